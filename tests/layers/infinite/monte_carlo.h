#pragma once
// Test of infinite-width limits: the mean kernels of a few hundred random networks are compared
// with the kernels that infinite::limit() computes.

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"

namespace ladon::test {

/// The largest |estimate − limit| / standard error over all entries. An entry whose standard error
/// is 0, because all networks have the same value, must agree with the limit to 1e-9.
inline double largest_z(const Tensor& limit, const Tensor& estimate, const Tensor& se) {
  EXPECT_EQ(limit.shape(), estimate.shape());
  if (!(limit.shape() == estimate.shape())) return INFINITY;
  const auto k = limit.to_vector(), m = estimate.to_vector(), s = se.to_vector();
  double largest = 0;
  for (std::size_t i = 0; i < k.size(); ++i) {
    const double error = std::abs(m[i] - k[i]);
    const double floor = 1e-9 * (1 + std::abs(k[i]));
    largest = std::max(largest, error <= floor ? 0 : error / std::max(s[i], 1e-300));
    if (!std::isfinite(error)) return INFINITY;
  }
  return largest;
}

struct LimitCheck {
  std::uint64_t seed = 1;
  infinite::MonteCarloOptions options = {.draws = 400};
};

/// Expects that both kernels (NNGP and NTK), averaged over networks that `make` returns, agree with
/// their limit to within 4 standard errors in every entry.
inline void expect_limit(const infinite::NetworkFactory& make, const infinite::Inputs& a,
                         const infinite::Inputs& b, const LimitCheck& check = {}) {
  Generator rng(check.seed);
  const auto estimate = infinite::monte_carlo_kernel(make, a, b, check.options, rng);
  Generator any(7);
  const auto network = make(any);
  network->eval();  // the mode of the sampled networks
  const infinite::Kernel k = infinite::limit(*network)(a, b, check.options.kernel.get);
  EXPECT_LT(largest_z(k.nngp, estimate.nngp, estimate.nngp_se), 4) << "NNGP";
  if (!k.ntk.defined()) return;
  EXPECT_LT(largest_z(k.ntk, estimate.ntk, estimate.ntk_se), 4) << "NTK";
}

/// expect_limit() for networks with many outputs, which make the estimate of the NNGP kernel
/// precise; the NTK is estimated from two of the outputs.
inline void expect_sharp_limit(const infinite::NetworkFactory& make, const infinite::Inputs& a,
                               const infinite::Inputs& b, std::int64_t draws = 400) {
  expect_limit(make, a, b, {.options = {.draws = draws, .kernel = {.channels = 2}}});
}

}  // namespace ladon::test
