// Sums of arc-cosine kernels over keys, compared with their definition.

#include "ladon/layers/infinite/attention/key_sums.h"

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/tests/support.h"

namespace ladon::key_sums_test {
namespace {

/// Σ over the keys that (a, b) sees of weight·κ(ρ_ab·ρ_ij), or of κ': [P, T, T], by dual().
Tensor by_definition(Weighting zeta, bool causal, const Tensor& rho, const Tensor& weight,
                     bool slope) {
  const std::int64_t p = rho.size(0), t = rho.size(1);
  const Tensor unit = ones({}, f64);
  const Tensor c = reshape(rho, {p, t, t, 1, 1}) * reshape(rho, {p, 1, 1, t, t});
  const auto f =
      zeta == Weighting::relu ? infinite::DualFunction::relu() : infinite::DualFunction::abs();
  const auto e = infinite::dual(f, expand(unit, c.shape()), expand(unit, c.shape()), c, true);
  Tensor kappa = (slope ? e.derivative : e.value) * reshape(weight, {p, 1, 1, t, t});
  if (causal) {
    const Tensor sees = tril(ones({t, t}, f64));  // [a, i] and [b, j]
    kappa = kappa * reshape(sees, {t, 1, t, 1}) * reshape(sees, {1, t, 1, t});
  }
  return sum(kappa, {3, 4});
}

/// Correlations of both signs, many of them near ±1, and exactly 0, ±.9 and ±1.
infinite::KeyFactors factors(std::int64_t t, bool tangent) {
  Generator rng(11);
  Tensor rho = sin(4 * normal({2, t, t}, rng, 0, 1, f64));
  const double edges[] = {0, 0.9, -0.9, 1, -1, 1e-8};
  for (std::int64_t i = 0; i < rho.count(); i += 5)
    rho.mutable_data<double>()[i] = edges[i / 5 % 6];
  infinite::KeyFactors keys{rho, {}};
  for (int m = 0; m < (tangent ? 4 : 1); ++m) {
    const Tensor w = normal({2, t, t}, rng, 0, 1, f64);
    keys.weight[m] = contiguous(where(less(w, -1), scalar(0, f64), w));  // some are masked
  }
  return keys;
}

TEST(KeySums, AreWhatTheirDefinitionSays) {
  for (const Weighting zeta : {Weighting::relu, Weighting::abs})
    for (const bool causal : {false, true})
      for (const bool tangent : {false, true})
        for (const std::int64_t t : {0, 1, 15, 16, 19}) {  // moments from 16 on
          SCOPED_TRACE(detail::join("T = ", t, causal ? " causal" : ""));
          const infinite::KeyFactors keys = factors(t, tangent);
          const infinite::KeySums got = infinite::key_sums(zeta, causal, keys);
          for (int m = 0; m < 4; ++m) {
            ASSERT_EQ(got.of[m].defined(), m == 0 || tangent);
            if (!got.of[m].defined()) continue;
            const Tensor expected =
                by_definition(zeta, causal, keys.correlation, keys.weight[m], m > 1);
            // Sums of at most 361 terms below 1, each to 2e-15.
            EXPECT_TRUE(all_close(got.of[m], expected, 0, 3e-13)) << m;
          }
        }
}

}  // namespace
}  // namespace ladon::key_sums_test
