// attentionGradient's core: against the matrix formulas in Eigen, and against central differences of the float64 loss
// for every scheme of the catalogue and every parameter that it says learns.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "laws/law_checks.h"
#include "schemes/frequency_report.h"
#include "schemes/registry.h"
#include "support/build.h"
#include "support/float64_case.h"

using namespace posenc;
using namespace posenc_test;

namespace {

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

// The derivative of a loss by one number: central differences at two steps, extrapolated to fourth order.
template <class Loss>
double slope(Loss loss_at, double x, double h) {
  const double wide = (loss_at(x + h) - loss_at(x - h)) / (2 * h);
  const double narrow = (loss_at(x + h / 2) - loss_at(x - h / 2)) / h;
  return (4 * narrow - wide) / 3;
}

constexpr double kStep = 0x1p-11;  // with multiples of 2^-12 below 8, every step is a float32 number

double norm(const std::vector<double>& x) { return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)); }

// Some of the numbers of x, moved one by one, change the loss as `gradient` says.
void check_numbers(Float64Case& test, std::vector<double>& x, const std::vector<double>& gradient, const char* name,
                   double size) {
  REQUIRE(x.size() == gradient.size());
  Dice dice(x.size());
  for (int n = 0; n < 3 && !x.empty(); ++n) {
    const auto entry = static_cast<std::size_t>(dice.integer(0, static_cast<double>(x.size()) - 1));
    const double own = x[entry];
    const double found = slope([&](double moved) { x[entry] = moved; return test.loss(); }, own, kStep);
    x[entry] = own;
    INFO(name << "[" << entry << "] of " << x.size() << ": " << gradient[entry] << ", differences " << found);
    CHECK(std::abs(gradient[entry] - found) <= 1e-8 * size);
  }
}

// A call around one scheme: `options` of 0 is plain, 1 has all the others that attention takes.
AttentionCase call_around(const Descriptor& descriptor, const Scheme& scheme, int options) {
  const std::size_t heads = scheme.heads() > 0 ? static_cast<std::size_t>(scheme.heads()) : 2;
  const std::size_t width = scheme.width() > 0 ? static_cast<std::size_t>(scheme.width()) : 4;
  std::size_t value_width = 3;
  bool causal = options == 1;
  if (descriptor.slot == Slot::kRelate) {
    const auto& relate = static_cast<const Relate&>(scheme);
    if (relate.value_width() > 0) value_width = static_cast<std::size_t>(relate.value_width());
    causal = causal || relate.causal_only();
  }
  AttentionCase test({1, heads, options == 1 && heads % 2 == 0 ? heads / 2 : heads, 4, 6, width, value_width}, 80);
  FrequencyReport report;  // some scalings multiply queries and keys, until differences are too coarse
  if (!scheme.frequencies(0, report).ok()) report.attention_factor = 1;
  test.call.scale = 0.375 / (report.attention_factor * report.attention_factor);
  test.call.causal = causal;
  const std::size_t tokens[] = {4, 6};
  for (int side = 0; side < 2; ++side) {
    std::vector<double>& positions = side == 0 ? test.query_positions : test.key_positions;
    for (int axis = 0; axis < scheme.axes(); ++axis) {
      const double reach = scheme.reach(axis);
      for (std::size_t t = 0; t < tokens[side]; ++t) {
        double p = static_cast<double>((t * static_cast<std::size_t>(2 * axis + 3)) % 7 + (side == 0 ? 5 : 0));
        if (reach < 100) p = std::fmod(p, reach + 1);
        positions.push_back(scheme.whole_offsets() ? p : 1.37 * p + 0.21 * static_cast<double>(side));
      }
    }
  }
  if (scheme.axes() > 1) test.query_order = {2, 3, 4, 5};
  if (options == 1) {
    test.call.softcap = 1.5;
    for (std::size_t h = 0; h < heads; ++h) test.sinks.push_back(h % 2 == 0 ? 0.5f : -1.0f);
    test.call.mask.shape[2] = 4, test.call.mask.shape[3] = 6;
    for (int n = 0; n < 24; ++n) test.mask_added.push_back(n % 7 == 3 ? -INFINITY : 0.25f * static_cast<float>(n % 5));
  }
  return test;
}

// Moves entry `entry` of a param to x.
void set(Built& built, const Param& param, std::size_t entry, double x) {
  const Table& table = built.spec->table(param.name);
  if (param.kind == Kind::kTable) {
    const_cast<float*>(table.floats)[entry] = static_cast<float>(x);
    REQUIRE(static_cast<double>(table.floats[entry]) == x);
  } else if (param.kind == Kind::kList) {
    const_cast<double*>(table.reals)[entry] = x;
  } else {
    REQUIRE(built.spec->set(param.name, x).ok());
  }
}

// The sample lines, with every list and table that learns given as well where it may be.
std::vector<std::string> lines_of(const Descriptor& descriptor) {
  std::vector<std::string> lines = sample_options(descriptor);
  for (std::string& line : lines) {
    for (const Param& param : descriptor.params) {
      const bool many = param.kind == Kind::kTable || param.kind == Kind::kList;
      if (!many || !param.differentiable) continue;
      if ((" " + line).find(" " + std::string(param.name) + "=") != line.npos) continue;
      const std::string longer = line + (line.empty() ? "" : " ") + param.name + "=random:9";
      if (build(descriptor, longer).status.ok()) line = longer;
    }
  }
  return lines;
}

// Numbers that differences can be taken at: tables of multiples of 2^-12, and no slopes of thousands.
void settle(Built& built) {
  for (std::vector<float>& table : built.tables) {
    for (float& x : table) x = std::round(x * 4096) / 4096;
  }
  for (std::vector<double>& list : built.lists) {
    for (double& x : list) x = x > 64 ? x / 0x1p20 : x;
  }
  REQUIRE(make_scheme(*built.spec, built.scheme).ok());
}

class SchemeCall {
 public:
  SchemeCall(Built& built, AttentionCase& from) : built_(built), test(from) { attach(); }
  void attach() {
    const Slot slot = built_.spec->descriptor().slot;
    if (slot == Slot::kRotate) rotate_[0] = &built_.as<Rotate>(), test.call.rotate = rotate_;
    if (slot == Slot::kBias) bias_[0] = &built_.as<Bias>(), test.call.bias = bias_;
    if (slot == Slot::kRelate) relate_[0] = &built_.as<Relate>(), test.call.relate = relate_;
  }
  // NaN where the param may not have that number.
  double loss(const Param& param, std::size_t entry, double x) {
    set(built_, param, entry, x);
    if (!make_scheme(*built_.spec, built_.scheme).ok()) return std::nan("");
    attach();
    return test.loss();
  }

 private:
  Built& built_;
  const Rotate* rotate_[1];
  const Bias* bias_[1];
  const Relate* relate_[1];

 public:
  Float64Case test;
};

}  // namespace

TEST_CASE("gradient: of every scheme, by operands and by every parameter that learns, as differences say") {
  for (const Descriptor* descriptor : catalogue()) {
    if (descriptor->slot == Slot::kEmbed) {
      // Added before attention, whose gradient has nothing of them.
      INFO(descriptor->name);
      CHECK(std::none_of(descriptor->params.begin(), descriptor->params.end(),
                         [](const Param& param) { return param.differentiable; }));
      continue;
    }
    std::map<std::string, int> tried;
    for (const Param& param : descriptor->params) {
      if (param.differentiable) tried[param.name] = 0;
    }
    int calls = 0, lively = 0;
    for (const std::string& line : lines_of(*descriptor)) {
      for (const int options : {calls % 2, 1}) {
        Built built = build(*descriptor, line);
        INFO(slot_name(descriptor->slot) << " " << descriptor->name << " " << line << ", options " << options);
        REQUIRE(built.status.ok());
        settle(built);
        // As much in fewer numbers.
        if (built.scheme->width() > 128 || built.scheme->width() * built.scheme->heads() > 600) continue;
        AttentionCase from = call_around(*descriptor, *built.scheme, options);
        SchemeCall call(built, from);
        const Status status = call.test.differentiate();
        INFO(status.message());
        REQUIRE(status.ok());
        Float64Case& test = call.test;
        REQUIRE(test.parameters.size() == 1);
        const std::vector<Parameter> parameters = test.parameters[0].parameters;
        const std::vector<double> dq = test.dq, dk = test.dk, dv = test.dv, dsinks = test.dsinks;
        const double size = std::max({1.0, norm(dq), norm(dk), norm(dv)});
        ++calls, lively += norm(dq) > 0 ? 1 : 0;
        check_numbers(test, test.q, dq, "q", size);
        check_numbers(test, test.k, dk, "k", size);
        check_numbers(test, test.v, dv, "v", size);
        check_numbers(test, test.sinks, dsinks, "sinks", size);
        for (const Parameter& parameter : parameters) {
          const auto param = std::find_if(descriptor->params.begin(), descriptor->params.end(),
                                          [&](const Param& p) { return std::string_view(p.name) == parameter.name; });
          REQUIRE(param != descriptor->params.end());
          CHECK(param->differentiable);
          const bool many = param->kind == Kind::kTable || param->kind == Kind::kList;
          const Table& table = built.spec->table(parameter.name);
          CHECK(many == (parameter.rank > 0));
          if (many && !table.given) continue;  // drawn or by a rule: not to be moved from here
          for (int axis = 0; axis < parameter.rank; ++axis) CHECK(parameter.shape[axis] == table.shape[axis]);
          if (many) CHECK(parameter.gradient.size() == table.size());
          // The entries that matter most, and one of the rest.
          std::vector<std::size_t> order(parameter.gradient.size());
          std::iota(order.begin(), order.end(), std::size_t{0});
          std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::abs(parameter.gradient[a]) > std::abs(parameter.gradient[b]);
          });
          if (order.size() > 4) order = {order[0], order[1], order[2], order.back()};
          for (const std::size_t entry : order) {
            const double own = param->kind == Kind::kTable  ? static_cast<double>(table.floats[entry])
                               : param->kind == Kind::kList ? table.reals[entry]
                                                            : built.spec->number(parameter.name);
            const double h = param->kind == Kind::kTable ? kStep : 1e-3 * std::max(1e-3, std::min(1.0, std::abs(own)));
            const double found = slope([&](double x) { return call.loss(*param, entry, x); }, own, h);
            set(built, *param, entry, own);
            REQUIRE(make_scheme(*built.spec, built.scheme).ok());
            call.attach();
            if (std::isnan(found)) continue;  // at the end of its range
            INFO(parameter.name << "[" << entry << "] = " << own << ": " << parameter.gradient[entry]
                                << ", differences " << found);
            CHECK(std::abs(parameter.gradient[entry] - found) <=
                  1e-8 * std::max({size, std::abs(found), norm(parameter.gradient)}));
            if (found != 0) ++tried[parameter.name];
          }
        }
      }
    }
    INFO(descriptor->name << ": " << calls << " calls, of which " << lively << " have a gradient");
    CHECK(calls >= 4);
    CHECK(4 * lively >= 3 * calls);
    for (const auto& [name, times] : tried) {
      INFO(descriptor->name << ": " << name << " is flagged differentiable; declare() names it, and it was tried "
                            << times << " times");
      CHECK(times >= 3);
    }
  }
}

TEST_CASE("gradient: the matrix formulas, for grouped queries, masks, soft-cap and sinks") {
  AttentionCase from({2, 4, 2, 9, 13, 5, 3}, 81);
  from.call.scale = 0.375;
  from.query_positions = run_of(4, 9);
  from.call.causal = true;
  from.call.softcap = 2;
  from.sinks = {0.5f, -1, 0.25f, 2};
  from.key_lengths = {13, 7};
  Float64Case test(from);
  REQUIRE(test.differentiate().ok());
  const auto matrix = [](const std::vector<double>& x, std::size_t index, std::size_t rows, std::size_t columns) {
    return Matrix(Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(
        x.data() + index * rows * columns, at(rows), at(columns)));
  };
  double worst = 0;
  Vector sinks = Vector::Zero(4);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t kv = 0; kv < 2; ++kv) {
      const Matrix k = matrix(test.k, 2 * b + kv, 13, 5), v = matrix(test.v, 2 * b + kv, 13, 3);
      Matrix dk = Matrix::Zero(13, 5), dv = Matrix::Zero(13, 3);
      for (std::size_t h = 2 * kv; h < 2 * kv + 2; ++h) {
        const Matrix q = matrix(test.q, 4 * b + h, 9, 5), d_out = matrix(test.d_out, 4 * b + h, 9, 3);
        const Matrix t = (0.375 / 2 * q * k.transpose()).array().tanh();
        Matrix e = (2 * t).array().exp();
        for (Eigen::Index i = 0; i < 9; ++i) {
          for (Eigen::Index j = 0; j < 13; ++j) e(i, j) = j <= i + 4 && (b == 0 || j < 7) ? e(i, j) : 0;
        }
        const double sink = std::exp(static_cast<double>(from.sinks[h]));
        const Vector sums = e.rowwise().sum().array() + sink;
        const Matrix p = sums.cwiseInverse().asDiagonal() * e;
        const Matrix dp = d_out * v.transpose();
        const Vector mean = (p.array() * dp.array()).rowwise().sum();
        const Matrix ds = (p.array() * (dp.colwise() - mean).array() * (1 - t.array().square())).matrix();
        worst = std::max(worst, (matrix(test.dq, 4 * b + h, 9, 5) - 0.375 * ds * k).cwiseAbs().maxCoeff());
        dk += 0.375 * ds.transpose() * q;
        dv += p.transpose() * d_out;
        sinks(at(h)) -= (sums.cwiseInverse().array() * sink * mean.array()).sum();
      }
      worst = std::max(worst, (matrix(test.dk, 2 * b + kv, 13, 5) - dk).cwiseAbs().maxCoeff());
      worst = std::max(worst, (matrix(test.dv, 2 * b + kv, 13, 3) - dv).cwiseAbs().maxCoeff());
    }
  }
  for (std::size_t h = 0; h < 4; ++h) worst = std::max(worst, std::abs(sinks(at(h)) - test.dsinks[h]));
  CHECK(worst < 1e-13);
}

TEST_CASE("gradient: what must follow from the softmax and from shifts") {
  const auto sum = [](const std::vector<double>& x, std::size_t first, std::size_t step) {
    double total = 0;
    for (std::size_t n = first; n < x.size(); n += step) total += x[n];
    return total;
  };
  // A number added to every score changes nothing, so gradients by a table of biases sum to zero in each head.
  const Built t5 = build(*find(Slot::kBias, "t5"), "heads=2 weights=random:1");
  const Bias* bias[] = {&t5.as<Bias>()};
  AttentionCase from({1, 2, 2, 20, 30, 6, 4}, 82);
  from.call.bias = bias;
  Float64Case test(from);
  REQUIRE(test.differentiate().ok());
  const std::vector<double>& weights = test.parameters[0].parameters[0].gradient;
  CHECK(norm(weights) > 0.01);
  for (std::size_t h = 0; h < 2; ++h) CHECK(std::abs(sum(weights, h, 2)) < 1e-14);
  // Values moved alike move the output alike.
  for (std::size_t c = 0; c < 4; ++c) CHECK(sum(test.dv, c, 4) == Approx(sum(test.d_out, c, 4)).epsilon(1e-13));
  // Scores are linear in q and in k: both see the same <x, dx>.
  CHECK(std::inner_product(test.q.begin(), test.q.end(), test.dq.begin(), 0.0) ==
        Approx(std::inner_product(test.k.begin(), test.k.end(), test.dk.begin(), 0.0)).epsilon(1e-12));

  // Under a scheme of offsets, positions moved alike change no gradient.
  const Built rope = build(*find(Slot::kRotate, "rope"), "dim=6 frequencies=0.9,0.3,0.02");
  const Rotate* rotate[] = {&rope.as<Rotate>()};
  from.call.rotate = rotate;
  Float64Case here(from);
  REQUIRE(here.differentiate().ok());
  from.query_positions = run_of(1000, 20), from.key_positions = run_of(1000, 30);
  Float64Case there(from);
  REQUIRE(there.differentiate().ok());
  for (std::size_t n = 0; n < here.dq.size(); ++n) CHECK(there.dq[n] == Approx(here.dq[n]).margin(1e-12));
  const std::vector<double>& a = here.parameters[0].parameters[0].gradient;
  const std::vector<double>& b = there.parameters[0].parameters[0].gradient;
  CHECK(norm(a) > 0.01);
  for (std::size_t n = 0; n < 3; ++n) CHECK(b[n] == Approx(a[n]).margin(1e-9));
}

TEST_CASE("gradient: masked pairs and empty rows get none, and what is masked never leaks") {
  AttentionCase from({1, 1, 1, 3, 4, 2, 2}, 83);
  from.query_positions = {-1, 1, 2};
  from.call.causal = true;
  from.v[3 * 2] = INFINITY;
  from.k[3 * 2 + 1] = NAN;
  Float64Case test(from);
  CHECK(test.differentiate().code == Code::kNotFinite);
  test.call.allow_non_finite = true;
  REQUIRE(test.differentiate().ok());
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(test.dq[c] == 0);
    CHECK(test.dk[6 + c] == 0);
    CHECK(test.dv[6 + c] == 0);
    CHECK(std::isfinite(test.dq[2 + c]));
    CHECK(test.dv[c] != 0);
  }
}

TEST_CASE("gradient: refusals speak as attentionGradient") {
  AttentionCase from({1, 1, 1, 3, 4, 2, 2}, 84);
  Float64Case test(from);
  test.d_out[3] = INFINITY;
  CHECK(test.differentiate().message() == "attentionGradient: dOut must be finite numbers, got Infinity");
  test.d_out[3] = 1;
  test.q[1] = NAN;
  CHECK(test.differentiate().message() ==
        "attentionGradient: q must be finite numbers, got NaN at token 0, channel 1");
  test.q[1] = 1;
  for (double& x : test.v) x *= 1e308;
  for (double& x : test.d_out) x = 1e308;
  const Status overflow = test.differentiate();
  CHECK(overflow.code == Code::kOutOfRange);
  CHECK(overflow.subject == "attentionGradient");
}
