#pragma once
// The test of every layer's report (layers/parameter_uses.h): without Jacobians as with them.

#include <gtest/gtest.h>

#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/finite/empirical.h"

namespace ladon::test {

/// The layerwise NTK of a network in f64 is the contraction of its Jacobians, to 1e-10 of the
/// largest entry: between two blocks and of the first with itself, and of every pair of channels.
inline void expect_layerwise(Layer& network, const infinite::Inputs& a, const infinite::Inputs& b) {
  using infinite::empirical_kernel;
  network.to(f64);
  network.eval();
  const auto compare = [](const Tensor& layerwise, const Tensor& contraction) {
    const double largest = amax(abs(contraction)).item();
    ASSERT_EQ(layerwise.shape(), contraction.shape());
    EXPECT_GT(largest, 0);
    EXPECT_LE(amax(abs(layerwise - contraction)).item(), 1e-10 * largest);
  };
  const infinite::EmpiricalOptions jacobian = {.method = infinite::NtkMethod::jacobian};
  compare(empirical_kernel(network, a, b).ntk, empirical_kernel(network, a, b, jacobian).ntk);
  compare(
      empirical_kernel(network, a, {.channels = 2, .full = true}).ntk,
      empirical_kernel(network, a, {.method = jacobian.method, .channels = 2, .full = true}).ntk);
}

}  // namespace ladon::test
