// Tables against MPFR: no cell may be further than 0.501 ULP from the true sine or cosine.
#include <catch2/catch.hpp>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernels/sincos.h"
#include "support/sincos_cells.h"

namespace posenc {
namespace {

using testing::CellGroup;
using testing::CellKind;

constexpr mpfr_prec_t kBits = 400;

// The true angle and its sine and cosine, with omega = base^(-2 i / dim) formed by MPFR's own power.
class Oracle {
 public:
  Oracle() { mpfr_inits2(kBits, omega_, angle_, sin_, cos_, difference_, static_cast<mpfr_ptr>(nullptr)); }
  ~Oracle() {
    mpfr_clears(omega_, angle_, sin_, cos_, difference_, static_cast<mpfr_ptr>(nullptr));
    mpfr_free_cache();
  }

  void set_power_law(double base, long pair, long dim) {
    mpfr_set_si(angle_, -2 * pair, MPFR_RNDN);
    mpfr_div_si(angle_, angle_, dim, MPFR_RNDN);
    mpfr_set_d(omega_, base, MPFR_RNDN);
    mpfr_pow(omega_, omega_, angle_, MPFR_RNDN);
  }
  void set_omega(double omega) { mpfr_set_d(omega_, omega, MPFR_RNDN); }
  void at(double position, double scale = 1) {
    mpfr_mul_d(angle_, omega_, position, MPFR_RNDN);
    mpfr_sin_cos(sin_, cos_, angle_, MPFR_RNDN);
    mpfr_mul_d(sin_, sin_, scale, MPFR_RNDN);
    mpfr_mul_d(cos_, cos_, scale, MPFR_RNDN);
  }
  double sin_ulps(double got, int bits, int least) { return ulps(got, sin_, bits, least); }
  double cos_ulps(double got, int bits, int least) { return ulps(got, cos_, bits, least); }
  double smaller() const {
    return std::min(std::fabs(mpfr_get_d(sin_, MPFR_RNDN)), std::fabs(mpfr_get_d(cos_, MPFR_RNDN)));
  }

 private:
  // |got - truth| in units of the last place of the truth, with `bits` of mantissa and 2^least the smallest unit.
  double ulps(double got, mpfr_t truth, int bits, int least) {
    if (mpfr_zero_p(truth)) return got == 0 && !std::signbit(got) ? 0 : HUGE_VAL;
    const long unit = std::max<long>(mpfr_get_exp(truth) - bits, least);
    mpfr_sub_d(difference_, truth, got, MPFR_RNDN);
    mpfr_mul_2si(difference_, difference_, -unit, MPFR_RNDN);
    return std::fabs(mpfr_get_d(difference_, MPFR_RNDU));
  }
  mpfr_t omega_, angle_, sin_, cos_, difference_;
};

TEST_CASE("every float cell is within 0.501 ULP of MPFR") {
  Oracle oracle;
  double worst[3] = {0, 0, 0}, nearest = 1;
  std::size_t cells[3] = {0, 0, 0};
  for (const CellGroup& group : testing::sincos_cell_groups()) {
    const std::vector<float> got = testing::sincos_cells(group);
    const auto kind = static_cast<std::size_t>(group.kind);
    const std::size_t pairs = group.end_pair - group.first_pair;
    for (std::size_t i = 0; i < pairs; ++i) {
      oracle.set_power_law(group.base, static_cast<long>(group.first_pair + i), group.dim);
      for (std::size_t t = 0; t < group.positions.size(); ++t) {
        oracle.at(group.positions[t]);
        const float* cell = got.data() + 2 * (t * pairs + i);
        worst[kind] = std::max({worst[kind], oracle.sin_ulps(cell[0], 24, -149), oracle.cos_ulps(cell[1], 24, -149)});
        cells[kind] += 2;
        if (group.kind == CellKind::kContinuedFraction) nearest = std::min(nearest, oracle.smaller());
      }
    }
  }
  std::printf("sincos against MPFR: worst error in ULP %.6f (%zu cells in runs), %.6f (%zu scattered), "
              "%.6f (%zu at convergents, the nearest to zero %.1e)\n",
              worst[0], cells[0], worst[1], cells[1], worst[2], cells[2], nearest);
  CHECK(cells[0] >= 10000);
  CHECK(cells[1] >= 10000);
  CHECK(cells[2] >= 1000);
  CHECK(nearest < 1e-16);  // the convergents are what they should be
  for (const double w : worst) CHECK(w <= 0.501);
}

TEST_CASE("float64 cells are within 0.51 ULP of MPFR") {
  Oracle oracle;
  double worst = 0;
  std::size_t count = 0;
  std::size_t turn = 0;
  for (const CellGroup& group : testing::sincos_cell_groups()) {
    if (group.kind != CellKind::kContinuedFraction && ++turn % 4 != 0) continue;
    const auto frequencies = Frequencies::power_law(group.base, group.dim, 32);
    std::vector<double> table(group.positions.size() * 64);
    fill_sin_cos(*frequencies, group.positions, SinCosTable<double>::half(table.data(), 64, 64, PairOrder::kSinCos));
    for (std::size_t i = group.first_pair; i < group.end_pair; ++i) {
      oracle.set_power_law(group.base, static_cast<long>(i), group.dim);
      for (std::size_t t = 0; t < group.positions.size(); ++t) {
        oracle.at(group.positions[t]);
        worst = std::max({worst, oracle.sin_ulps(table[t * 64 + i], 53, -1074),
                          oracle.cos_ulps(table[t * 64 + 32 + i], 53, -1074)});
        count += 2;
      }
    }
  }
  std::printf("float64 sincos against MPFR: worst error in ULP %.6f (%zu cells)\n", worst, count);
  CHECK(count >= 20000);
  CHECK(worst <= 0.51);
}

TEST_CASE("scales, given frequencies and tiny or huge angles keep the bound") {
  Oracle oracle;
  const double omegas[] = {1.0, 0.0,    -0.3,  1e-300, 1e-40, 3.5e-5,
                           1e5, 0x1p64, 1.7320508075688772, 0x1.fffffffffffffp-1};
  const auto frequencies = Frequencies::list(omegas);
  const std::size_t pairs = std::size(omegas);
  std::vector<double> positions = {0, -0.0, 1, 1, 1, 0.1, -0.1, 1e-300, 5e-324, 9007199254740991.0,
                                   -9007199254740992.0};
  for (int t = 0; t < 90; ++t) positions.push_back(t - 45);
  for (int t = 0; t < 40; ++t) positions.push_back(1e15 + 0.25 * t);
  for (const double scale : {1.0, 0.02, -3.0, 22.627416997969522, 1e-30, 1e-41}) {
    std::vector<float> sin(positions.size() * pairs), cos(sin.size());
    std::vector<double> sin64(sin.size()), cos64(sin.size());
    fill_sin_cos(*frequencies, positions, SinCosTable<float>::separate(cos.data(), sin.data(), pairs, pairs), scale);
    fill_sin_cos(*frequencies, positions, SinCosTable<double>::separate(cos64.data(), sin64.data(), pairs, pairs),
                 scale);
    double worst = 0, worst64 = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      oracle.set_omega(omegas[i]);
      for (std::size_t t = 0; t < positions.size(); ++t) {
        const std::size_t n = t * pairs + i;
        oracle.at(positions[t], scale);
        worst = std::max({worst, oracle.sin_ulps(sin[n], 24, -149), oracle.cos_ulps(cos[n], 24, -149)});
        // Among the denormals float64 keeps 2^-1050 only.
        worst64 = std::max({worst64, oracle.sin_ulps(sin64[n], 53, -1050), oracle.cos_ulps(cos64[n], 53, -1050)});
        if (sin[n] == 0) CHECK_FALSE(std::signbit(sin[n]));
        if (cos[n] == 0) CHECK_FALSE(std::signbit(cos[n]));
      }
    }
    INFO("scale " << scale << ", worst " << worst << " and " << worst64);
    CHECK(worst <= 0.501);
    CHECK(worst64 <= 0.51);
  }
}

}  // namespace
}  // namespace posenc
