// Every law on every scheme of the catalogue; and the law checks themselves on schemes whose laws are known.
#include "schemes/laws.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "laws/law_checks.h"
#include "schemes/registry.h"

using namespace posenc;
using namespace posenc_test;

namespace {

// ---------------------------------------------------------------- test-only schemes, one formula each

template <class Formula>
class TestEmbed : public Embed {
 public:
  int width() const override { return 2; }
  Status encode(const Positions& positions, double, float* out) const override { return fill(positions, out); }
  Status encode(const Positions& positions, double, double* out) const override { return fill(positions, out); }

 private:
  template <class Real>
  Status fill(const Positions& positions, Real* out) const {
    for (std::size_t t = 0; t < positions.count; ++t) {
      double a = 0, b = 0;
      if (!Formula::at(positions.data[t], a, b)) return refuse(Code::kOutOfRange, "test", "positions", "smaller", "");
      out[2 * t] = static_cast<Real>(a);
      out[2 * t + 1] = static_cast<Real>(b);
    }
    return ok();
  }
};

struct Ramp {  // p(t) = (t, 1)
  static bool at(double t, double& a, double& b) { return a = t, b = 1, true; }
};
struct Constant {
  static bool at(double, double& a, double& b) { return a = 1, b = 0, true; }
};
struct Nothing {
  static bool at(double, double& a, double& b) { return a = b = 0, true; }
};
struct Clock {  // on the unit circle, a step a radian
  static bool at(double t, double& a, double& b) { return a = std::cos(t), b = std::sin(t), true; }
};
struct Coarse {  // the same for 8 neighbours
  static bool at(double t, double& a, double& b) { return Clock::at(std::floor(t / 8), a, b); }
};
struct Short {  // a table of 5,000 rows
  static bool at(double t, double& a, double& b) { return Clock::at(t, a, b) && t >= 0 && t < 5000; }
};

// R(t): x_0 *= (1 + growth t), the pair (x_0, x_1) turned by rate * t; on keys one can turn another way.
class TestRotate : public Rotate {
 public:
  TestRotate(double rate, double growth, double key_rate, double offset)
      : rate_(rate), growth_(growth), key_rate_(key_rate), offset_(offset) {}
  int width() const override { return 2; }
  Status apply(const RotateCall& call, const Positions& positions, const float* x, std::size_t x_stride, float* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }
  Status apply(const RotateCall& call, const Positions& positions, const double* x, std::size_t x_stride, double* y,
               std::size_t y_stride) const override {
    return turn(call, positions, x, x_stride, y, y_stride);
  }

 private:
  template <class Real>
  Status turn(const RotateCall& call, const Positions& positions, const Real* x, std::size_t x_stride, Real* y,
              std::size_t y_stride) const {
    for (std::size_t t = 0; t < positions.count; ++t) {
      const double p = positions.data[t], angle = (call.side == Side::kQuery ? rate_ : key_rate_) * p + offset_;
      const double a = static_cast<double>(x[t * x_stride]) * (1 + growth_ * p),
                   b = static_cast<double>(x[t * x_stride + 1]);
      y[t * y_stride] = static_cast<Real>(a * std::cos(angle) - b * std::sin(angle));
      y[t * y_stride + 1] = static_cast<Real>(a * std::sin(angle) + b * std::cos(angle));
    }
    return ok();
  }
  double rate_, growth_, key_rate_, offset_;
};

class TestBias : public Bias {
 public:
  explicit TestBias(float (*formula)(double query, double key)) : formula_(formula) {}
  void values(const Tile& tile, double* b) const override { put(tile, b); }
  void fill(const Tile& tile, float* b) const override { put(tile, b); }  // -0 as it is

 private:
  template <class Real>
  void put(const Tile& tile, Real* b) const {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) b[j * kLanes + l] = formula_(tile.query_positions[l], tile.key_positions[j]);
    }
  }
  float (*formula_)(double, double);
};

// s_ij = q_i[0] f(i, j), and f(i, j) mixed into the output.
class TestRelate : public Relate {
 public:
  explicit TestRelate(float (*formula)(double query, double key)) : formula_(formula) {}
  std::size_t query_state_size() const override { return kLanes; }
  int value_width() const override { return 1; }
  void begin(const RelateTile&, float* state) const override { std::fill_n(state, kLanes, 0.0f); }
  void scores(const RelateTile& tile, const float*, float*, float* r) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) {
        r[j * kLanes + l] = tile.q[l] * formula_(tile.query_positions[l], tile.key_positions[j]);
      }
    }
  }
  void accumulate(const RelateTile& tile, const float* p, float* state) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) {
        state[l] += p[j * kLanes + l] * formula_(tile.query_positions[l], tile.key_positions[j]);
      }
    }
  }
  void finish(int, const float* state, float* o) const override {
    for (int l = 0; l < kLanes; ++l) o[l] += state[l];
  }

 private:
  float (*formula_)(double, double);
};

std::set<std::string> laws_of(Slot slot, const Scheme& scheme) {
  std::set<std::string> laws;
  for (int n = 0; n < kLawCount; ++n) {
    const Law law = static_cast<Law>(n);
    if (law_sentence(law, slot) != nullptr && try_law(law, slot, scheme).holds) laws.insert(law_name(law));
  }
  return laws;
}

using Laws = std::set<std::string>;

// ---------------------------------------------------------------- descriptors that lie

constexpr Param kSignParam[] = {
    {.name = "mirrored", .kind = Kind::kFlag, .sentence = "Both sides alike.", .fallback = 1},
    {.name = "slope",
     .kind = Kind::kReal,
     .sentence = "Slope.",
     .fallback = 1,
     .min = 0.5,
     .max = 8,
     .shown_min = 0.5,
     .shown_max = 4},
};

// -slope |i - j|, or slope (i - j) where not mirrored.
class Leaning : public Bias {
 public:
  Leaning(bool mirrored, double slope) : mirrored_(mirrored), slope_(slope) {}
  void values(const Tile& tile, double* b) const override {
    for (int j = 0; j < tile.keys; ++j) {
      for (int l = 0; l < kLanes; ++l) {
        const double offset = tile.offset(j, l), lean = mirrored_ ? std::fabs(offset) : offset;
        b[j * kLanes + l] = -slope_ * lean + 0.0;
      }
    }
  }

 private:
  bool mirrored_;
  double slope_;
};

Status make_leaning(const Spec& spec, std::unique_ptr<Scheme>& scheme) {
  scheme = std::make_unique<Leaning>(spec.flag("mirrored"), spec.number("slope"));
  return ok();
}

bool mirrored(const Spec& spec) { return spec.flag("mirrored"); }
bool never(const Spec& spec) { return spec.number("slope") > 100; }

std::vector<Claim> honest_claims() {
  return {{Law::kShiftInvariant},
          {Law::kExtrapolates},
          {Law::kIdentityAtZero},
          {.law = Law::kSymmetric, .param = "mirrored", .value = 1},
          {.law = Law::kNonPositive, .when = "it is mirrored", .holds = mirrored},
          {.law = Law::kMonotoneInDistance, .param = "mirrored", .value = 1}};
}

std::vector<std::string> faults_of(const std::vector<Claim>& claims) {
  const Descriptor descriptor = {Slot::kBias, "leaning", "Leaning", "S.", "", "", kSignParam, claims, make_leaning};
  return law_faults(descriptor);
}

std::vector<Claim> without(Law law) {
  std::vector<Claim> claims = honest_claims();
  std::erase_if(claims, [law](const Claim& claim) { return claim.law == law; });
  return claims;
}

std::vector<Claim> with(Claim claim) {
  std::vector<Claim> claims = without(claim.law);
  claims.push_back(claim);
  return claims;
}

bool mentions(const std::vector<std::string>& faults, const std::string& text) {
  return std::any_of(faults.begin(), faults.end(),
                     [&](const std::string& fault) { return fault.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("laws: each scheme of the catalogue claims what holds of it, and no less") {
  for (const Descriptor* descriptor : catalogue()) {
    DYNAMIC_SECTION(slot_name(descriptor->slot) << " " << descriptor->name) {
      const std::vector<std::string> lines = sample_options(*descriptor);
      CHECK(lines.size() >= 5);
      for (const std::string& fault : law_faults(*descriptor)) FAIL_CHECK(fault);
    }
  }
}

TEST_CASE("laws: samples reach every choice and are not all alike") {
  for (const Descriptor* descriptor : catalogue()) {
    const std::vector<std::string> lines = sample_options(*descriptor);
    INFO(descriptor->name);
    CHECK(std::set<std::string>(lines.begin(), lines.end()).size() >= std::min<std::size_t>(lines.size(), 5));
    for (const Param& param : descriptor->params) {
      if (param.kind != Kind::kFlag && param.kind != Kind::kChoice) continue;
      std::set<double> values;
      for (const std::string& line : lines) {
        const Built built = build(*descriptor, line);
        if (built.spec->applies(param)) values.insert(built.spec->number(param.name));
      }
      const std::string_view choices = param.choices;
      CHECK(values.size() == (param.kind == Kind::kFlag
                                  ? 2
                                  : 1 + static_cast<std::size_t>(std::count(choices.begin(), choices.end(), '|'))));
    }
  }
}

TEST_CASE("laws: embeds of known laws") {
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Ramp>()) == Laws{"injective", "extrapolates"});
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Constant>()) == Laws{"shift_invariant", "bounded", "extrapolates"});
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Nothing>()) ==
        Laws{"shift_invariant", "bounded", "extrapolates", "identity_at_zero"});
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Clock>()) == Laws{"shift_invariant", "bounded", "injective", "extrapolates"});
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Coarse>()) == Laws{"bounded", "extrapolates"});
  CHECK(laws_of(Slot::kEmbed, TestEmbed<Short>()) == Laws{"shift_invariant", "bounded", "injective"});
}

TEST_CASE("laws: rotations of known laws") {
  const Laws rotation = {"shift_invariant", "isometry", "bounded", "injective", "extrapolates", "identity_at_zero"};
  CHECK(laws_of(Slot::kRotate, TestRotate(1, 0, 1, 0)) == rotation);
  // Keys that turn faster.
  Laws laws = rotation;
  laws.erase("shift_invariant");
  CHECK(laws_of(Slot::kRotate, TestRotate(1, 0, 1.5, 0)) == laws);
  // A turn at 0 that is the same everywhere.
  laws = rotation;
  laws.erase("identity_at_zero");
  CHECK(laws_of(Slot::kRotate, TestRotate(1, 0, 1, 0.5)) == laws);
  // Lengths that grow.
  CHECK(laws_of(Slot::kRotate, TestRotate(1, 1e-3, 1, 0)) == Laws{"injective", "extrapolates", "identity_at_zero"});
  // No turn at all.
  laws = rotation;
  laws.erase("injective");
  CHECK(laws_of(Slot::kRotate, TestRotate(0, 0, 0, 0)) == laws);
}

TEST_CASE("laws: biases of known laws") {
  const auto of = [](float (*formula)(double, double)) { return laws_of(Slot::kBias, TestBias(formula)); };
  CHECK(
      of([](double i, double j) { return static_cast<float>(-std::fabs(i - j)) + 0.0f; }) ==
      Laws{"shift_invariant", "non_positive", "monotone_in_distance", "symmetric", "extrapolates", "identity_at_zero"});
  CHECK(
      of([](double i, double j) { return static_cast<float>(-std::log1p(std::fabs(i - j))) + 0.0f; }) ==
      Laws{"shift_invariant", "non_positive", "monotone_in_distance", "symmetric", "extrapolates", "identity_at_zero"});
  CHECK(of([](double i, double j) { return i == j ? 1.0f : 0.0f; }) ==
        Laws{"shift_invariant", "monotone_in_distance", "bounded", "symmetric", "extrapolates"});
  CHECK(of([](double i, double j) { return j > i ? -1.0f : 0.0f; }) ==
        Laws{"shift_invariant", "non_positive", "bounded", "extrapolates", "identity_at_zero"});
  CHECK(of([](double i, double j) { return i == 5 && j == 5 ? -1.0f : 0.0f; }) ==
        Laws{"non_positive", "monotone_in_distance", "bounded", "symmetric", "extrapolates"});
  CHECK(of([](double i, double j) { return std::fabs(i - j) > 1e6 ? NAN : 0.0f; }) ==
        Laws{"shift_invariant", "symmetric", "identity_at_zero"});
  CHECK(of([](double, double) { return -0.0f; }) ==
        Laws{"shift_invariant", "non_positive", "monotone_in_distance", "bounded", "symmetric", "extrapolates"});
}

TEST_CASE("laws: relations of known laws") {
  const auto of = [](float (*formula)(double, double)) { return laws_of(Slot::kRelate, TestRelate(formula)); };
  CHECK(of([](double i, double j) { return static_cast<float>(j - i); }) ==
        Laws{"shift_invariant", "extrapolates", "identity_at_zero"});
  CHECK(of([](double i, double j) { return i == j ? 1.0f : 2.0f; }) ==
        Laws{"shift_invariant", "bounded", "symmetric", "extrapolates"});
  CHECK(of([](double i, double j) { return i == 3 && j > 3 ? 1.0f : 0.0f; }) ==
        Laws{"bounded", "extrapolates", "identity_at_zero"});
  CHECK(of([](double i, double j) { return j - i > 1e6 ? INFINITY : 0.0f; }) ==
        Laws{"shift_invariant", "symmetric", "identity_at_zero"});
}

TEST_CASE("laws: an honest descriptor passes") { CHECK(faults_of(honest_claims()).empty()); }

TEST_CASE("laws: a claim that is false is found") {
  CHECK(mentions(faults_of(with({Law::kBounded})), "leaning bounded: claimed, fails at offset"));
  CHECK(mentions(faults_of(with({Law::kSymmetric})), "leaning symmetric: claimed, fails at"));
  CHECK(mentions(faults_of(with({.law = Law::kSymmetric, .param = "mirrored", .value = 0})), "claimed, fails"));
  CHECK(mentions(faults_of(with({Law::kNonPositive})), "with mirrored=false"));
}

TEST_CASE("laws: a law that holds unclaimed is found, everywhere or under one choice") {
  CHECK(mentions(faults_of(without(Law::kShiftInvariant)), "leaning shift_invariant: holds, unclaimed"));
  CHECK(mentions(faults_of(without(Law::kIdentityAtZero)), "leaning identity_at_zero: holds, unclaimed"));
  CHECK(mentions(faults_of(without(Law::kSymmetric)), "leaning symmetric: holds where mirrored is true, unclaimed"));
  // A claim that reaches less far than the truth.
  CHECK(mentions(faults_of(with({.law = Law::kExtrapolates, .param = "mirrored", .value = 1})),
                 "leaning extrapolates: holds where the claim does not reach"));
}

TEST_CASE("laws: claims about another slot, and conditions that no sample meets, are found") {
  CHECK(mentions(faults_of(with({Law::kIsometry})), "leaning isometry: claimed, but it does not speak of this slot"));
  CHECK(mentions(faults_of(with({.law = Law::kBounded, .when = "never", .holds = never})),
                 "leaning bounded: claimed, but no sample met its condition"));
}
