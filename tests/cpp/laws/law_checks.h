// Tries the laws of schemes/laws.h on schemes, and compares what holds with what a descriptor claims.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "schemes/laws.h"
#include "schemes/scheme.h"
#include "support/build.h"
#include "support/tiles.h"

namespace posenc_test {

using namespace posenc;

struct Verdict {
  bool holds = true;
  std::string counterexample;  // where it does not
};

// Whether `law` holds of this scheme, whose slot must be one the law speaks of. `length` is for injective.
Verdict try_law(posenc::Law law, posenc::Slot slot, const posenc::Scheme& scheme, double length = 4096);

// Option lines that span a descriptor's values: the defaults, every flag and choice value on its own and among random
// others, random numbers of the shown ranges, lists and tables given or left out. Each builds.
std::vector<std::string> sample_options(const posenc::Descriptor& descriptor);

// One line for each claim that fails, each claim that was never tried, each claim about another slot, and each law that
// holds unclaimed: of every sample outside its claims, or of every sample in which a flag or choice has one value.
std::vector<std::string> law_faults(const posenc::Descriptor& descriptor);

namespace detail {

inline constexpr double kFar[] = {8191,           65536,           1048576,        16777216,
                                  16777217,       268435456,       4294967296.0,   68719476736.0,
                                  274877906944.0, 1099511627776.0, 1099511627775.0};

inline std::string at(double i, double j) { return "at (" + to_text(i) + ", " + to_text(j) + ")"; }
inline Verdict no(std::string counterexample) { return {false, std::move(counterexample)}; }
inline bool finite(double x) { return x - x == 0; }

inline std::vector<float> vectors(std::size_t count, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<float> x(count);
  for (float& value : x) value = static_cast<float>(dice.real(-1, 1));
  return x;
}

// Every axis at the same places.
inline Reals on_axes(const Scheme& scheme, const Reals& positions) {
  Reals all;
  for (int axis = 0; axis < scheme.axes(); ++axis) all.insert(all.end(), positions.begin(), positions.end());
  return all;
}

inline Positions view(const Scheme& scheme, const Reals& all) {
  return {all.data(), all.size() / static_cast<std::size_t>(scheme.axes()), scheme.axes()};
}

inline Reals far_positions(bool fractions) {
  Reals positions = {0, 1, -1, 2, 63, -63, 511, 1000};
  for (const double p : kFar) positions.insert(positions.end(), {p, -p});
  if (fractions) positions.insert(positions.end(), {0.5, -2.25, 1000.1, 1e-9});
  return positions;
}

inline std::vector<int> some_heads(const Scheme& scheme) {
  const int heads = std::max(scheme.heads(), 1);
  std::vector<int> some = {0};
  if (heads > 1) some.push_back(heads - 1);
  if (heads > 2) some.push_back(heads / 2);
  return some;
}

inline double dot(const double* a, const double* b, std::size_t n) { return std::inner_product(a, a + n, b, 0.0); }

// Equal rows of a float32 table (rows, width), or -1.
inline std::pair<int, int> equal_rows(const std::vector<float>& table, std::size_t width) {
  const std::size_t rows = table.size() / width;
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto compare = [&](std::size_t a, std::size_t b) {
    return std::memcmp(table.data() + a * width, table.data() + b * width, width * sizeof(float));
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return compare(a, b) < 0; });
  for (std::size_t n = 1; n < rows; ++n) {
    if (compare(order[n - 1], order[n]) == 0) return {static_cast<int>(order[n - 1]), static_cast<int>(order[n])};
  }
  return {-1, -1};
}

// ---------------------------------------------------------------- embed

class EmbedLaws {
 public:
  explicit EmbedLaws(const Embed& embed) : embed_(embed), width_(static_cast<std::size_t>(embed.width())) {}

  Verdict shift_invariant() const {
    const Reals places = {0, 1, 2, 5, 11};
    const Reals base = table(places);
    if (base.empty()) return no("undefined near 0");
    for (const double t : {1.0, 7.0, 100.0, 4097.0}) {
      Reals moved = places;
      for (double& p : moved) p += t;
      const Reals there = table(moved);
      if (there.empty()) return no("undefined after a shift by " + to_text(t));
      for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t j = 0; j < places.size(); ++j) {
          const double here = dot(&base[i * width_], &base[j * width_], width_);
          const double shifted = dot(&there[i * width_], &there[j * width_], width_);
          const double size = 1e-10 * (std::fabs(here) + std::sqrt(dot(&base[i * width_], &base[i * width_], width_) *
                                                                   dot(&base[j * width_], &base[j * width_], width_)));
          if (!(std::fabs(here - shifted) <= size)) return no(at(places[i], places[j]) + " shifted by " + to_text(t));
        }
      }
    }
    return {};
  }

  Verdict bounded() const {
    const double near = largest(run(0, 4096));
    if (near < 0) return no("undefined near 0");
    for (const double p : far_positions(false)) {
      const double far = largest({p});
      if (far > near * 1.01) return no("at " + to_text(p) + ": " + to_text(far) + " above " + to_text(near));
    }
    return {};
  }

  Verdict injective(double length) const {
    const Reals places = on_axes(embed_, run(0, static_cast<std::size_t>(length)));
    std::vector<float> rows(static_cast<std::size_t>(length) * width_);
    if (!embed_.encode(view(embed_, places), length, rows.data()).ok()) return no("undefined below " + to_text(length));
    const auto [a, b] = equal_rows(rows, width_);
    return a < 0 ? Verdict{} : no(at(a, b));
  }

  Verdict extrapolates() const {
    for (const double p : far_positions(!embed_.whole_offsets())) {
      if (!(largest({p}) >= 0)) return no("at " + to_text(p));
    }
    return {};
  }

  Verdict identity_at_zero() const { return largest({0}) == 0 ? Verdict{} : no("p(0) is not 0"); }

 private:
  Reals table(const Reals& places) const {  // empty where undefined
    const Reals all = on_axes(embed_, places);
    Reals rows(places.size() * width_);
    const double length = *std::max_element(places.begin(), places.end()) + 1;
    if (!embed_.encode(view(embed_, all), std::max(length, 1.0), rows.data()).ok()) rows.clear();
    return rows;
  }
  double largest(const Reals& places) const {  // -1 where undefined or not finite
    const Reals rows = table(places);
    double size = rows.empty() ? -1 : 0;
    for (const double x : rows) {
      if (!finite(x)) return -1;
      size = std::max(size, std::fabs(x));
    }
    return size;
  }

  const Embed& embed_;
  std::size_t width_;
};

// ---------------------------------------------------------------- rotate

class RotateLaws {
 public:
  explicit RotateLaws(const Rotate& rotate)
      : rotate_(rotate), d_(rotate.width() > 0 ? static_cast<std::size_t>(rotate.width()) : 8) {
    for (const float x : vectors(d_, 11)) q_.push_back(static_cast<double>(x));
    for (const float x : vectors(d_, 12)) k_.push_back(static_cast<double>(x));
  }

  Verdict shift_invariant() const {
    for (const int head : some_heads(rotate_)) {
      for (const double i : {0.0, 3.0, 10.0}) {
        for (const double j : {0.0, 1.0, 10.0, 40.0}) {
          const Reals q = turn(q_, {i}, Side::kQuery, head, 0), k = turn(k_, {j}, Side::kKey, head, 0);
          for (const double t : {1.0, 7.0, 100.0, 4097.0}) {
            const Reals q_moved = turn(q_, {i + t}, Side::kQuery, head, t);
            const Reals k_moved = turn(k_, {j + t}, Side::kKey, head, t);
            const double here = dot(q.data(), k.data(), d_), there = dot(q_moved.data(), k_moved.data(), d_);
            const double size = std::sqrt(dot(q.data(), q.data(), d_) * dot(k.data(), k.data(), d_));
            if (!(std::fabs(here - there) <= 1e-11 * size)) return no(at(i, j) + " shifted by " + to_text(t));
          }
        }
      }
    }
    return {};
  }

  Verdict isometry() const {
    for (const double p : far_positions(!rotate_.whole_offsets())) {
      if (const double ratio = worst_ratio({p}, true, p - 64); !(ratio <= 1e-13)) {
        return no("at " + to_text(p) + " lengths change by " + to_text(ratio));
      }
    }
    return {};
  }

  Verdict bounded() const {
    // In blocks: a call, not the turning of its rows, is what takes the time; and its length is heard.
    constexpr int kBlock = 32;
    double near = 0;
    for (int start = 0; start < 2048; start += kBlock) {
      near = std::max(near, worst_ratio(run(start, kBlock), false, kNone));
    }
    for (const double p : far_positions(false)) {
      if (!(worst_ratio({p}, false, kNone) <= near * 1.01)) return no("at " + to_text(p));
    }
    return {};
  }

  Verdict injective(double length) const {
    const auto rows = static_cast<std::size_t>(length);
    const Reals places = on_axes(rotate_, run(0, rows));
    std::vector<float> x(rows * d_);
    for (std::size_t n = 0; n < x.size(); ++n) x[n] = static_cast<float>(q_[n % d_]);
    RotateCall call;
    call.length = length;
    if (!rotate_.apply(call, view(rotate_, places), x.data(), d_, x.data(), d_).ok()) return no("undefined");
    const auto [a, b] = equal_rows(x, d_);
    return a < 0 ? Verdict{} : no(at(a, b));
  }

  Verdict extrapolates() const {
    for (const double p : far_positions(!rotate_.whole_offsets())) {
      if (!finite(worst_ratio({p}, false, p - 64))) return no("at " + to_text(p));
    }
    return {};
  }

  Verdict identity_at_zero() const {
    for (const int head : some_heads(rotate_)) {
      for (const Side side : {Side::kQuery, Side::kKey}) {
        if (turn(q_, {0}, side, head, kNone) != q_) return no("R(0) x is not x");
      }
    }
    return {};
  }

 private:
  // Row n of x at positions[n]. `origin` is heard by a local() scheme only; kNone: it has none.
  Reals turn(const Reals& x, const Reals& positions, Side side, int head, double origin) const {
    RotateCall call;
    call.side = side;
    call.head = head;
    call.length = std::max(*std::max_element(positions.begin(), positions.end()) + 1, 1.0);
    call.origin = origin;
    const Reals places = on_axes(rotate_, positions);
    Reals y(x.size(), kNone);
    if (!rotate_.apply(call, view(rotate_, places), x.data(), d_, y.data(), d_).ok()) y.assign(x.size(), kNone);
    return y;
  }
  // The largest |R x| / |x| at any of the positions, or its largest distance from 1; NaN where undefined.
  double worst_ratio(const Reals& positions, bool from_one, double origin) const {
    Reals both, places;
    for (const double p : positions) {
      both.insert(both.end(), q_.begin(), q_.end());
      both.insert(both.end(), k_.begin(), k_.end());
      places.insert(places.end(), 2, p);
    }
    double worst = 0;
    for (const int head : some_heads(rotate_)) {
      for (const Side side : {Side::kQuery, Side::kKey}) {
        const Reals y = turn(both, places, side, head, origin);
        for (std::size_t n = 0; n < y.size(); n += d_) {
          const double ratio = std::sqrt(dot(&y[n], &y[n], d_) / dot(&both[n], &both[n], d_));
          if (!finite(ratio)) return kNone;
          worst = std::max(worst, from_one ? std::fabs(ratio - 1) : ratio);
        }
      }
    }
    return worst;
  }

  const Rotate& rotate_;
  std::size_t d_;
  Reals q_, k_;
};

// ---------------------------------------------------------------- bias and relate: numbers of a pair

// Offsets near 0 in both directions, in order.
inline Reals near_offsets(bool causal) { return causal ? run(-300, 301) : run(-300, 601); }

inline Reals far_offsets(bool causal) {
  Reals offsets;
  for (const double p : kFar) {
    offsets.push_back(-p);
    if (!causal) offsets.push_back(p);
  }
  return offsets;
}

class BiasLaws {
 public:
  explicit BiasLaws(const Bias& bias) : bias_(bias) {}

  Verdict shift_invariant() const {
    for (const int head : some_heads(bias_)) {
      const std::vector<float> here = bias_matrix(bias_, head, run(0, 11), run(0, 23));
      for (const double t : {1.0, 7.0, 1000.0, 1048576.0}) {
        // To the bit: where a table ends, both are NaN.
        const std::vector<float> there = bias_matrix(bias_, head, run(t, 11), run(t, 23));
        if (std::memcmp(there.data(), here.data(), here.size() * sizeof(float)) != 0) {
          return no("shifted by " + to_text(t));
        }
      }
    }
    return {};
  }

  Verdict non_positive() const {
    return each([](double offset, float b) { return b <= 0 ? Verdict{} : no("at offset " + to_text(offset)); });
  }

  Verdict monotone_in_distance() const {
    for (const int head : some_heads(bias_)) {
      std::map<double, std::pair<float, float>> by_distance;  // smallest and largest bias
      for (const Reals& offsets : {near_offsets(false), far_offsets(false)}) {
        const std::vector<float> b = row(head, offsets);
        for (std::size_t n = 0; n < offsets.size(); ++n) {
          const auto [place, fresh] = by_distance.try_emplace(std::fabs(offsets[n]), b[n], b[n]);
          if (!fresh) place->second = {std::min(place->second.first, b[n]), std::max(place->second.second, b[n])};
        }
      }
      float lowest = by_distance.begin()->second.first;
      for (auto next = std::next(by_distance.begin()); next != by_distance.end(); ++next) {
        if (!(next->second.second <= lowest)) return no("at distance " + to_text(next->first));
        lowest = std::min(lowest, next->second.first);
      }
    }
    return {};
  }

  Verdict bounded() const {
    for (const int head : some_heads(bias_)) {
      float near = 0;
      for (const float b : row(head, run(-4096, 8193))) near = std::max(near, std::fabs(b));
      const Reals offsets = far_offsets(false);
      const std::vector<float> far = row(head, offsets);
      for (std::size_t n = 0; n < far.size(); ++n) {
        if (!(std::fabs(far[n]) <= near * 1.01f)) return no("at offset " + to_text(offsets[n]));
      }
    }
    return {};
  }

  Verdict symmetric() const {
    for (const int head : some_heads(bias_)) {
      const std::vector<float> b = bias_matrix(bias_, head, run(3, 140), run(3, 140));
      for (std::size_t i = 0; i < 140; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (b[i * 140 + j] != b[j * 140 + i]) return no(at(static_cast<double>(i) + 3, static_cast<double>(j) + 3));
        }
      }
    }
    return {};
  }

  Verdict extrapolates() const {
    return each([](double offset, float b) {
      return finite(static_cast<double>(b)) ? Verdict{} : no("at offset " + to_text(offset));
    });
  }

  Verdict identity_at_zero() const {
    for (const int head : some_heads(bias_)) {
      for (const double p : {0.0, 5.0, -300.0, 1048576.0}) {
        const float b = bias_matrix(bias_, head, {p}, {p})[0];
        if (b != 0 || std::signbit(b)) return no(at(p, p));
      }
    }
    return {};
  }

 private:
  // Of one query at 0.
  std::vector<float> row(int head, const Reals& offsets) const { return bias_matrix(bias_, head, {0}, offsets); }

  template <class Check>
  Verdict each(Check check) const {
    Reals fractions;
    if (!bias_.whole_offsets()) fractions = {0.5, -2.25, 1000.1, -1e-9};
    for (const int head : some_heads(bias_)) {
      for (const Reals& offsets : {near_offsets(false), far_offsets(false), fractions}) {
        const std::vector<float> b = row(head, offsets);
        for (std::size_t n = 0; n < offsets.size(); ++n) {
          if (Verdict verdict = check(offsets[n], b[n]); !verdict.holds) return verdict;
        }
      }
    }
    return {};
  }

  const Bias& bias_;
};

class RelateLaws {
 public:
  explicit RelateLaws(const Relate& relate)
      : relate_(relate), d_(relate.width() > 0 ? static_cast<std::size_t>(relate.width()) : 8) {}

  Verdict shift_invariant() const {
    const std::size_t n = 12;
    for (const int head : some_heads(relate_)) {
      const RelateResult here = terms(head, run(0, n), run(0, n), false);
      for (const double t : {1.0, 7.0, 1000.0, 1048576.0}) {
        const RelateResult there = terms(head, run(t, n), run(t, n), false);
        for (std::size_t cell = 0; cell < n * n; ++cell) {
          if (relate_.causal_only() && cell % n > cell / n) continue;
          if (here.scores[cell] != there.scores[cell]) return no("shifted by " + to_text(t));
        }
        if (here.values != there.values) return no("values shifted by " + to_text(t));
      }
    }
    return {};
  }

  Verdict bounded() const {
    for (const int head : some_heads(relate_)) {
      const float near = largest(head, near_offsets(relate_.causal_only()));
      for (const double offset : far_offsets(relate_.causal_only())) {
        const float far = largest(head, {offset});
        if (far < 0 || far > near * 1.01f) return no("at offset " + to_text(offset));
      }
    }
    return {};
  }

  // The same q at every query and the same k at every key: what differs is the place alone.
  Verdict symmetric() const {
    if (relate_.causal_only()) return no("keys ahead are never seen");
    for (const int head : some_heads(relate_)) {
      for (double i = 0; i < 6; ++i) {
        for (double j = 0; j < i; ++j) {
          const RelateResult back = terms(head, {i}, {j}, true), ahead = terms(head, {j}, {i}, true);
          if (back.scores != ahead.scores || back.values != ahead.values) return no(at(i, j));
        }
      }
    }
    return {};
  }

  Verdict extrapolates() const {
    for (const int head : some_heads(relate_)) {
      for (const double offset : far_offsets(relate_.causal_only())) {
        if (!(largest(head, {offset}) >= 0)) return no("at offset " + to_text(offset));
      }
    }
    return {};
  }

  Verdict identity_at_zero() const {
    for (const int head : some_heads(relate_)) {
      if (!(largest(head, {0}) == 0)) return no("terms of (0, 0) are not 0");
    }
    return {};
  }

 private:
  RelateResult terms(int head, const Reals& queries, const Reals& keys, bool same_vectors) const {
    std::vector<float> q = vectors(queries.size() * d_, 21), k = vectors(keys.size() * d_, 22),
                       p(queries.size() * keys.size(), 0.25f);
    for (std::size_t n = 0; same_vectors && n < q.size(); ++n) q[n] = q[n % d_];
    for (std::size_t n = 0; same_vectors && n < k.size(); ++n) k[n] = k[n % d_];
    return relate_matrices(relate_, head, q, k, d_, 0.5f, p, queries, keys);
  }
  // Over single keys of one query at 0; -1 where not finite.
  float largest(int head, const Reals& offsets) const {
    float size = 0;
    for (const double offset : offsets) {
      const RelateResult result = terms(head, {0}, {offset}, true);
      for (const std::vector<float>* part : {&result.scores, &result.values}) {
        for (const float x : *part) {
          if (!finite(static_cast<double>(x))) return -1;
          size = std::max(size, std::fabs(x));
        }
      }
    }
    return size;
  }

  const Relate& relate_;
  std::size_t d_;
};

}  // namespace detail

using namespace detail;

inline Verdict try_law(Law law, Slot slot, const Scheme& scheme, double length) {
  const auto of_both = [&](const auto& laws) {
    switch (law) {
      case Law::kShiftInvariant:
        return laws.shift_invariant();
      case Law::kBounded:
        return laws.bounded();
      case Law::kExtrapolates:
        return laws.extrapolates();
      case Law::kIdentityAtZero:
        return laws.identity_at_zero();
      default:
        return no("the law does not speak of this slot");
    }
  };
  if (slot == Slot::kEmbed) {
    const EmbedLaws laws(static_cast<const Embed&>(scheme));
    return law == Law::kInjective ? laws.injective(length) : of_both(laws);
  }
  if (slot == Slot::kRotate) {
    const RotateLaws laws(static_cast<const Rotate&>(scheme));
    if (law == Law::kInjective) return laws.injective(length);
    return law == Law::kIsometry ? laws.isometry() : of_both(laws);
  }
  if (slot == Slot::kBias) {
    const BiasLaws laws(static_cast<const Bias&>(scheme));
    if (law == Law::kNonPositive) return laws.non_positive();
    if (law == Law::kMonotoneInDistance) return laws.monotone_in_distance();
    return law == Law::kSymmetric ? laws.symmetric() : of_both(laws);
  }
  const RelateLaws laws(static_cast<const Relate&>(scheme));
  return law == Law::kSymmetric ? laws.symmetric() : of_both(laws);
}

// ---------------------------------------------------------------- samples

namespace detail {

inline std::vector<std::string> choices_of(const Param& param) {
  if (param.kind == Kind::kFlag) return {"false", "true"};
  std::vector<std::string> choices;
  for (std::string_view rest = param.choices; param.kind == Kind::kChoice && !rest.empty();) {
    choices.emplace_back(rest.substr(0, rest.find('|')));
    rest.remove_prefix(std::min(rest.size(), choices.back().size() + 1));
  }
  return choices;
}

// One option line. `random`: numbers of the shown ranges, choices by lot, optional values half of the time; else only
// what is required, at what a figure starts with. `fixed` is kept.
inline std::string draw(const Descriptor& descriptor, Dice& dice, bool random, const std::string& fixed_name,
                        const std::string& fixed_value) {
  std::string line;
  std::map<std::string, std::string> chosen;  // of choices
  const Param* fixed = nullptr;
  bool tables = false;
  for (const Param& param : descriptor.params) {
    if (param.name == fixed_name) fixed = &param;
    tables = tables || param.kind == Kind::kTable;
  }
  for (const Param& param : descriptor.params) {
    std::string value;
    const bool shown = param.shown_min < param.shown_max;
    bool required = param.required;
    if (param.where[0] != '\0') {
      const auto lists = [&](const char* choices) {
        return ("|" + std::string(choices) + "|").find("|" + chosen[param.where] + "|") != std::string::npos;
      };
      required = lists(param.needed_by);
      if (!required && !lists(param.taken_by)) continue;
    }
    // A number that may be left out is left out now and then, unless tables are sized by it: others may say the same.
    const bool settled = param.fallback == param.fallback && param.fallback_param[0] == '\0';
    const bool wanted =
        required || (random && (shown ? (!settled && tables) || dice.integer(0, 3) != 0 : dice.coin()));
    if (param.name == fixed_name) {
      value = fixed_value;
    } else if (fixed != nullptr && std::string(param.name) == fixed->where) {  // one that the fixed param belongs to
      value = fixed->needed_by[0] != '\0' ? fixed->needed_by : fixed->taken_by;
      value = value.substr(0, value.find('|'));
    } else if (param.kind == Kind::kFlag || param.kind == Kind::kChoice) {
      const std::vector<std::string> choices = choices_of(param);
      if (random) value = choices[static_cast<std::size_t>(dice.integer(0, static_cast<double>(choices.size()) - 1))];
    } else if (param.kind == Kind::kList || param.kind == Kind::kTable) {
      const std::string seed = to_text(dice.integer(1, 1000));
      if (required || (random && dice.integer(0, 3) == 0)) value = "random:" + seed;
      if (param.can_omit && random && dice.integer(0, 7) == 0) value = "false";
    } else if (wanted) {
      const double low = shown ? param.shown_min : std::max(param.min, -8.0);
      const double high = shown ? param.shown_max : std::min(param.max, std::max(param.min, 0.0) + 16);
      double x = !random                        ? param.shown
                 : param.kind == Kind::kInteger ? dice.integer(low, high)
                 : param.shown_log              ? std::exp(dice.real(std::log(low), std::log(high)))
                                                : dice.real(low, high);
      if (random && !shown && param.kind == Kind::kReal && param.above_min && x <= param.min) x = high;
      value = to_text(x);
    }
    if (param.kind == Kind::kChoice) {
      chosen[param.name] = value.empty() ? choices_of(param)[static_cast<std::size_t>(param.fallback)] : value;
    }
    if (!value.empty()) line += (line.empty() ? "" : " ") + std::string(param.name) + "=" + value;
  }
  return line;
}

}  // namespace detail

inline std::vector<std::string> sample_options(const Descriptor& descriptor) {
  constexpr int kEach = 4;        // random ones that build, for each choice and for none
  constexpr int kPatience = 200;  // refused ones (an odd dim, a clip that does not fit) are drawn again
  Dice dice(2017);
  std::vector<std::string> lines;
  const auto take = [&](const std::string& name, const std::string& value) {
    const auto add = [&](bool random) {
      std::string line = draw(descriptor, dice, random, name, value);
      const bool builds = build(descriptor, line).status.ok();
      if (builds) lines.push_back(std::move(line));
      return builds;
    };
    add(false);
    for (int found = 0, tries = 0; found < kEach && tries < kPatience; ++tries) found += add(true);
  };
  take("", "");
  for (const Param& param : descriptor.params) {
    for (const std::string& choice : choices_of(param)) take(param.name, choice);
    // The ends of a range, where laws break first; a list all at its low end, and one of no pattern.
    std::vector<std::string> ends;
    if (param.kind == Kind::kList) {
      ends = {"lowest", "random:1"};
    } else if (param.shown_min < param.shown_max) {
      ends = {to_text(param.shown_min), to_text(param.shown_max)};
    }
    for (const std::string& value : ends) {
      std::string line = draw(descriptor, dice, false, param.name, value);
      if (build(descriptor, line).status.ok()) lines.push_back(std::move(line));
    }
  }
  return lines;
}

// ---------------------------------------------------------------- claims

inline std::vector<std::string> law_faults(const Descriptor& descriptor) {
  std::vector<std::string> faults;
  const std::vector<std::string> lines = sample_options(descriptor);
  std::vector<Built> samples;
  for (const std::string& line : lines) samples.push_back(build(descriptor, line));
  if (samples.empty()) return {std::string(descriptor.name) + " builds with no sample of its options"};
  const auto fault = [&](Law law, const std::string& text) {
    faults.push_back(std::string(descriptor.name) + " " + law_name(law) + ": " + text);
  };

  for (int n = 0; n < kLawCount; ++n) {
    const Law law = static_cast<Law>(n);
    std::vector<const Claim*> claims;
    for (const Claim& claim : descriptor.claims) {
      if (claim.law == law) claims.push_back(&claim);
    }
    if (law_sentence(law, descriptor.slot) == nullptr) {
      if (!claims.empty()) fault(law, "claimed, but it does not speak of this slot");
      continue;
    }
    std::vector<char> tried(claims.size(), 0);
    // Of the samples outside the claims, by the flag or choice that they share ("" for all).
    struct Group {
      int count = 0, hold = 0;
      bool whole = true;  // no sample of it is claimed
    };
    std::map<std::string, Group> groups;
    for (const Built& sample : samples) {
      double length = 0;
      bool claimed = false;
      for (std::size_t c = 0; c < claims.size(); ++c) {
        if (!claims[c]->applies_to(*sample.spec)) continue;
        claimed = true;
        tried[c] = 1;
        length = std::max(length, claims[c]->length);
      }
      const Verdict verdict = try_law(law, descriptor.slot, *sample.scheme, length > 0 ? length : 4096);
      if (claimed && !verdict.holds) fault(law, "claimed, fails " + verdict.counterexample + " with " + sample.text);
      std::vector<std::string> keys = {""};
      for (const Param& param : descriptor.params) {
        if (param.kind != Kind::kFlag && param.kind != Kind::kChoice) continue;
        if (!sample.spec->applies(param)) continue;
        const auto value = static_cast<std::size_t>(sample.spec->number(param.name));
        keys.push_back(std::string(param.name) + " is " + choices_of(param)[value]);
      }
      for (const std::string& key : keys) {
        Group& group = groups[key];
        if (claimed) group.whole = false;
        if (claimed) continue;
        ++group.count;
        group.hold += verdict.holds;
      }
    }
    for (std::size_t c = 0; c < claims.size(); ++c) {
      if (tried[c] == 0) fault(law, "claimed, but no sample met its condition");
    }
    const Group& all = groups[""];
    if (all.count > 0 && all.hold == all.count) {
      fault(law, claims.empty() ? "holds, unclaimed" : "holds where the claim does not reach");
      continue;
    }
    for (const auto& [key, group] : groups) {
      if (!key.empty() && group.whole && group.count >= 4 && group.hold == group.count) {
        fault(law, "holds where " + key + ", unclaimed");
      }
    }
  }
  return faults;
}

}  // namespace posenc_test
