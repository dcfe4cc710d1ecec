// Golden bits of the kernel, the integrals, the expansion and the parts of it, precision, extension and costs.
#include <catch2/catch.hpp>

#include <iterator>
#include <vector>

#include "analysis/bilinear.h"
#include "analysis/cost.h"
#include "analysis/expansion.h"
#include "analysis/extension.h"
#include "analysis/kernel.h"
#include "analysis/oscillatory.h"
#include "analysis/precision.h"
#include "kernels/sincos.h"
#include "support/build.h"
#include "support/hashes.h"

using namespace posenc;
using posenc_test::Dice;

namespace {

// Numbers of several calls, one behind the other.
struct Numbers {
  std::vector<double> all;

  double* room(std::size_t count) {
    all.resize(all.size() + count);
    return all.data() + all.size() - count;
  }
  void check(const char* name) {
    for (double& x : all) x = x != x ? -2 : x;  // bits of NaN differ
    testing::check_hash(name, all.data(), all.size());
  }
};

std::vector<double> reals(Dice& dice, std::size_t count, double size) {
  std::vector<double> list(count);
  for (double& x : list) x = dice.real(-size, size);
  return list;
}

constexpr double kOffsets[] = {0, 1, -2.5, 3.9, 4.1, 64, 710, 1000.5, 123456.789, 1e6, 0x1p53};
constexpr std::size_t kCount = std::size(kOffsets);

}  // namespace

TEST_CASE("kernel and bound have the same bits in every build") {
  Numbers n;
  const auto paper = Frequencies::power_law(10000, 64, 32);
  REQUIRE(score_kernel(*paper, kOffsets, kCount, false, n.room(kCount)).ok());
  REQUIRE(score_kernel(*paper, kOffsets, kCount, true, n.room(kCount)).ok());
  REQUIRE(decay_bound(*paper, kOffsets, kCount, n.room(kCount)).ok());
  n.check("analysis/kernel");
}

TEST_CASE("integrals and Riemann sums have the same bits in every build") {
  Numbers n;
  const double samples[] = {1, 0.25, 0.25, -0.5, 1e-3};
  for (const FrequencyLaw& law :
       {FrequencyLaw::exponential(10000), FrequencyLaw::power(1), FrequencyLaw::exponential(1.01),
        FrequencyLaw::exponential(1e-3), FrequencyLaw::power(2), FrequencyLaw::power(0.013),
        FrequencyLaw::of_samples(samples)}) {
    REQUIRE(oscillatory_integral(law, kOffsets, kCount, n.room(kCount)).ok());
    REQUIRE(riemann_sum(law, 24, kOffsets, kCount, n.room(kCount)).ok());
  }
  n.check("analysis/oscillatory");
}

TEST_CASE("parts of p_m^T H p_n, covariances and norms have the same bits in every build") {
  Numbers n;
  Dice dice(7);
  const auto frequencies = Frequencies::power_law(10000, 10, 5);
  const double positions[] = {0, 1, 2, 3, 10, 100.5, -7};
  std::vector<double> rows(7 * 10);
  fill_sin_cos(*frequencies, positions, SinCosTable<double>::interleaved(rows.data(), 10, 10, PairOrder::kSinCos));
  const double columns[] = {1, 0, 3, 2, 5, 4, 7, 6, 9, 8};
  const auto h = reals(dice, 100, 2);
  const PairedRows pair{rows.data(), rows.data() + 20, 3, 4, 10, columns};
  for (const bool diagonal : {false, true}) {
    double* out = n.room(48);
    REQUIRE(bilinear(pair, h.data(), diagonal, out, out + 12, out + 24, out + 36).ok());
  }
  Dominance found;
  double means[3];
  double* out = n.room(110);
  REQUIRE(diagonal_dominance(rows.data(), 7, 10, out, out + 100, found).ok());
  REQUIRE(norm_ratio(h.data(), 10, 10, rows.data(), 7, 10, means).ok());
  n.all.insert(n.all.end(), {found.diagonal, found.off_diagonal, found.rows, means[0], means[1], means[2]});
  n.check("analysis/bilinear");
}

TEST_CASE("the expansion has the same bits in every build") {
  Numbers n;
  const auto frequencies = Frequencies::power_law(10000, 8, 4);
  const double positions[] = {0, 5};
  std::vector<double> rows(2 * 8);
  fill_sin_cos(*frequencies, positions, SinCosTable<double>::interleaved(rows.data(), 8, 8, PairOrder::kSinCos));
  const Expansion model{6, 8, 42, 0, 5, rows.data(), rows.data() + 8};
  const double scales[] = {0, 0.01, 0.1, 1, -3};
  double norms[3];
  double* out = n.room(40);
  REQUIRE(expand(model, scales, 5, out, out + 30, out + 35, norms).ok());
  n.all.insert(n.all.end(), norms, norms + 3);
  n.check("analysis/expansion");
}

TEST_CASE("emulated tables have the same bits in every build") {
  Numbers n;
  const double positions[] = {0, 1, 255, 257, 1857, 65519, 131071};
  const auto frequencies = Frequencies::power_law(10000, 16, 8);
  std::vector<double> error(7 * 16);
  for (int recipe = 0; recipe <= 6; ++recipe) {
    for (int arithmetic = 0; arithmetic <= 3; ++arithmetic) {
      std::size_t first, first_pair;
      double* out = n.room(2 * 112 + 7);
      const PrecisionCall call{frequencies.get(), 10000, 16, static_cast<Arithmetic>(arithmetic),
                               static_cast<Recipe>(recipe), positions, 7, 0};
      REQUIRE(table_precision(call, out, out + 112, error.data(), out + 224, first, first_pair).ok());
    }
  }
  n.check("analysis/precision");
}

TEST_CASE("phases and extensions have the same bits in every build") {
  Numbers n;
  const auto before = Frequencies::power_law(10000, 64, 32), after = Frequencies::power_law(123456.789, 64, 32);
  double* out = n.room(96);
  REQUIRE(unseen_phases(*before, *before, 2048, 32768, out, out + 32, out + 64).ok());
  const double offsets[] = {0, 1, 100, 4095};
  out = n.room(32 + 16);
  REQUIRE(extend_context({before.get(), after.get(), 1, 1.1}, 4096, offsets, 4, true, out, out + 32, out + 36,
                         out + 40, out + 44)
              .ok());
  n.check("analysis/extension");
}

TEST_CASE("costs have the same bits in every build") {
  Numbers n;
  CostCall call;
  call.length = 1000;
  call.dim = 768;
  call.heads = call.layers = 12;
  call.parameters = 12345;
  call.embed_columns = 768;
  call.turned_columns = 64;
  call.bias_heads = 12;
  call.pair_dots = 1;
  call.query_rows = 1024;
  call.projected_rows = 1999;
  call.table_numbers = 768000;
  Costs c;
  REQUIRE(count_costs(call, c).ok());
  for (const Cost& cost : {c.scheme, Cost(c.recurrent), Cost(c.convolution), Cost(c.attention), c.adding,
                           c.concatenating}) {
    n.all.insert(n.all.end(), {cost.parameters, cost.multiply_adds, cost.bytes});
  }
  for (const ModelCost& cost : {c.recurrent, c.convolution, c.attention}) {
    n.all.insert(n.all.end(), {cost.sequential, cost.path});
  }
  n.check("analysis/cost");
}
