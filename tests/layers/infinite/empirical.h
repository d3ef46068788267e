#pragma once
// Test of the parameter uses that a layer reports (layers/parameter_uses.h): the empirical NTK
// computed from them equals the NTK computed from Jacobians.

#include <gtest/gtest.h>

#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/finite/empirical.h"

namespace ladon::test {

/// Expects that the layerwise NTK of a network in f64 equals the contraction of its Jacobians, to
/// 1e-10 of the largest entry: between inputs a and b, and for a with itself and every pair of 2
/// output channels.
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
