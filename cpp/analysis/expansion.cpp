#include "analysis/expansion.h"

#include <cmath>
#include <vector>

#include "kernels/exact_sum.h"
#include "kernels/normal.h"
#include "simd/math.h"

namespace posenc {

namespace {

// c[0] + c[1] a + c[2] b + c[3] a^2 + c[4] b^2 + c[5] a b, higher degrees cut off: f(x_m + a p_m, x_n + b p_n) in this
// arithmetic has the six terms as its coefficients.
struct Jet {
  double c[6] = {0, 0, 0, 0, 0, 0};

  Jet() = default;
  Jet(double value) { c[0] = value; }
};

Jet operator+(const Jet& x, const Jet& y) {
  Jet r;
  for (int n = 0; n < 6; ++n) r.c[n] = x.c[n] + y.c[n];
  return r;
}

Jet operator*(const Jet& x, const Jet& y) {
  Jet r;
  r.c[0] = x.c[0] * y.c[0];
  for (int n = 1; n < 6; ++n) r.c[n] = x.c[0] * y.c[n] + x.c[n] * y.c[0];
  r.c[3] += x.c[1] * y.c[1];
  r.c[4] += x.c[2] * y.c[2];
  r.c[5] += x.c[1] * y.c[2] + x.c[2] * y.c[1];
  return r;
}

Jet operator*(const Jet& x, double factor) {
  Jet r;
  for (int n = 0; n < 6; ++n) r.c[n] = x.c[n] * factor;
  return r;
}

// g(x) from g, g' and g'' / 2 at x's value.
Jet composed(const Jet& x, double value, double slope, double curve) {
  Jet u = x;
  u.c[0] = 0;
  const Jet square = u * u;
  Jet r;
  r.c[0] = value;
  for (int n = 1; n < 6; ++n) r.c[n] = slope * u.c[n] + curve * square.c[n];
  return r;
}

// Doubles and jets alike.
double value_of(double x) { return x; }
double value_of(const Jet& x) { return x.c[0]; }
double exponential(double x) { return simd::exp_double(x); }
Jet exponential(const Jet& x) {
  const double e = simd::exp_double(x.c[0]);
  return composed(x, e, e, 0.5 * e);
}
double quotient(double x, double y) { return x / y; }
Jet quotient(const Jet& x, const Jet& y) {
  const double r = 1 / y.c[0];
  return x * composed(y, r, -(r * r), r * r * r);
}

class Model {
 public:
  explicit Model(const Expansion& given)
      : given_(given), x_(given.tokens * given.dim), readout_(given.dim) {
    const std::size_t d = given.dim;
    const double spread = 1 / std::sqrt(static_cast<double>(d));
    fill_normal(std::span(x_), given.seed, 0);
    for (std::uint64_t n = 0; n < 3; ++n) {
      weights_[n].resize(d * d);
      fill_normal(std::span(weights_[n]), given.seed, n + 1, 0, spread);
    }
    fill_normal(std::span(readout_), given.seed, 4, 0, spread);
    for (std::size_t n = 0; n < 3; ++n) {
      still_[n].resize(x_.size());
      for (std::size_t t = 0; t < given.tokens; ++t) project(x_.data() + t * d, weights_[n], still_[n].data() + t * d);
    }
  }

  const std::vector<double>& x() const { return x_; }

  // f with x_m and x_n moved by a p_m and b p_n; false where a score is not finite.
  template <class Number>
  bool at(const Number& a, const Number& b, Number& f) const {
    const std::size_t tokens = given_.tokens, d = given_.dim;
    const std::vector<Number> q = projected(0, a, b), k = projected(1, a, b), v = projected(2, a, b);
    std::vector<Number> read(tokens), row(tokens);  // x_j W_V w
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t c = 0; c < d; ++c) read[j] = read[j] + v[j * d + c] * readout_[c];
    }
    const double scale = 1 / std::sqrt(static_cast<double>(d));
    Number sum{};
    for (std::size_t i = 0; i < tokens; ++i) {
      double largest = 0;
      for (std::size_t j = 0; j < tokens; ++j) {
        Number score{};
        for (std::size_t c = 0; c < d; ++c) score = score + q[i * d + c] * k[j * d + c];
        row[j] = score * scale;
        const double value = value_of(row[j]);
        if (!(value - value == 0)) return false;
        if (j == 0 || largest < value) largest = value;
      }
      Number total{}, mixed{};
      for (std::size_t j = 0; j < tokens; ++j) {
        const Number weight = exponential(row[j] + Number(-largest));
        total = total + weight;
        mixed = mixed + weight * read[j];
      }
      sum = sum + quotient(mixed, total);
    }
    f = sum * (1 / static_cast<double>(tokens));
    return value_of(f) - value_of(f) == 0;
  }

 private:
  // x (d) w (d, d) -> y (d)
  template <class Number>
  void project(const Number* x, const std::vector<double>& w, Number* y) const {
    const std::size_t d = given_.dim;
    for (std::size_t e = 0; e < d; ++e) y[e] = Number{};
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t e = 0; e < d; ++e) y[e] = y[e] + x[c] * w[c * d + e];
    }
  }

  // X w_n with the two rows moved: the others are still.
  template <class Number>
  std::vector<Number> projected(std::size_t n, const Number& a, const Number& b) const {
    const std::size_t d = given_.dim;
    std::vector<Number> y(still_[n].begin(), still_[n].end()), row(d);
    const auto move = [&](std::size_t t, const Number& by, const double* p) {
      for (std::size_t c = 0; c < d; ++c) row[c] = Number(x_[t * d + c]) + by * p[c];
      project(row.data(), weights_[n], y.data() + t * d);
    };
    move(given_.m, a, given_.p_m);
    move(given_.n, b, given_.p_n);
    return y;
  }

  Expansion given_;
  std::vector<double> x_, weights_[3], still_[3], readout_;
};

double length(const double* x, std::size_t count) {
  double sum = 0;
  for (std::size_t c = 0; c < count; ++c) sum += x[c] * x[c];
  return std::sqrt(sum);
}

}  // namespace

Status expand(const Expansion& given, const double* scales, std::size_t count, double* terms, double* value,
              double* remainder, double (&norms)[3]) {
  static constexpr char kSubject[] = "taylor";
  const auto whole = [](std::size_t n) { return to_text(static_cast<double>(n)); };
  if (given.tokens < 2 || given.tokens > 256) {
    return refuse(Code::kOutOfRange, kSubject, "tokens", "an integer from 2 to 256", whole(given.tokens));
  }
  if (given.dim < 1 || given.dim > 256) {
    return refuse(Code::kOutOfRange, kSubject, "dim", "an integer from 1 to 256", whole(given.dim));
  }
  if (given.m >= given.tokens || given.n >= given.tokens || given.m == given.n) {
    return refuse(Code::kOutOfRange, kSubject, "positions", "two different positions below tokens",
                  whole(given.m) + ", " + whole(given.n));
  }
  for (std::size_t s = 0; s < count; ++s) {
    if (!(scales[s] - scales[s] == 0)) {
      return refuse(Code::kNotFinite, kSubject, "scales", "finite numbers", to_text(scales[s]));
    }
  }
  const Model model(given);
  const auto overflow = [](double scale) {
    return refuse(Code::kOutOfRange, kSubject, "scales", "numbers at which no score overflows", to_text(scale));
  };
  Jet a, b, f;
  a.c[1] = b.c[2] = 1;
  if (!model.at(a, b, f)) return overflow(0);
  for (std::size_t s = 0; s < count; ++s) {
    const double scale = scales[s];
    double* row = terms + 6 * s;
    for (int n = 0; n < 6; ++n) row[n] = n == 0 ? f.c[0] : n < 3 ? f.c[n] * scale : f.c[n] * scale * scale;
    if (!model.at(scale, scale, value[s])) return overflow(scale);
    ExactSum rest;
    rest.add(value[s]);
    for (int n = 0; n < 6; ++n) rest.add(-row[n]);
    remainder[s] = rest.value();
  }
  norms[0] = 0;
  for (std::size_t t = 0; t < given.tokens; ++t) norms[0] += length(model.x().data() + t * given.dim, given.dim);
  norms[0] /= static_cast<double>(given.tokens);
  norms[1] = length(given.p_m, given.dim);
  norms[2] = length(given.p_n, given.dim);
  return ok();
}

}  // namespace posenc
