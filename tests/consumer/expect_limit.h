#pragma once
// Check of a layer's infinite-width limit by finite networks.

#include <memory>

#include "expect.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"

/// Ends the program unless the mean kernels of `networks` random networks agree with their limit to
/// within 4 standard errors, in every entry between unmasked tokens. A network is the layer, with
/// 512 channels, between two random linear maps; inputs have 3 channels.
template <class MakeLayer>
void expect_limit(const MakeLayer& make_layer, const ladon::infinite::Inputs& x, int networks) {
  using namespace ladon;
  const LinearOptions first{.in = 3, .out = 512, .parameterization = Parameterization::ntk};
  const LinearOptions last{.in = 512, .out = 32, .parameterization = Parameterization::ntk};
  Generator rng(1);
  const auto make = [&](Generator& own) {
    return std::make_unique<Sequential>(Linear(first, own), make_layer(), Linear(last, own));
  };
  const infinite::Kernel k = infinite::limit(*make(rng))(x);
  // 32 outputs make the estimate of the NNGP kernel precise; the NTK needs only one of them.
  const auto sampled =
      infinite::monte_carlo_kernel(make, x, x, {.draws = networks, .kernel = {.channels = 1}}, rng);
  Tensor seen = ones_like(k.nngp);
  if (x.mask.defined()) {  // [N1, N2, T, T]
    const Tensor mask = cast(x.mask, f64);
    seen = reshape(mask, {x.count(), 1, -1, 1}) * reshape(mask, {1, x.count(), 1, -1});
  }
  const auto z = [&](const Tensor& got, const Tensor& limit, const Tensor& se) {
    return amax(seen * abs(got - limit) / maximum(se, scalar(1e-300, f64))).item();
  };
  expect_near("NNGP: error in s.e.", z(sampled.nngp, k.nngp, sampled.nngp_se), 0, 4);
  expect_near("NTK: error in s.e.", z(sampled.ntk, k.ntk, sampled.ntk_se), 0, 4);
}
/// The same check with three random vectors as inputs.
template <class MakeLayer>
void expect_limit(const MakeLayer& make_layer) {
  ladon::Generator rng(1);
  expect_limit(make_layer, ladon::normal({3, 3}, rng, 0, 1, ladon::f64), 300);
}
