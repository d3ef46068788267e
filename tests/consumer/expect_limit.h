#pragma once
// A layer's limit, held against finite networks.

#include <memory>

#include "expect.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"

/// Ends the program unless the mean kernels of 300 networks agree with their limit, to 4 standard
/// errors in every entry. The networks have the layer, of 512 channels, between random linear maps.
template <class MakeLayer>
void expect_limit(const MakeLayer& make_layer) {
  using namespace ladon;
  const LinearOptions first{.in = 3, .out = 512, .parameterization = Parameterization::ntk};
  const LinearOptions last{.in = 512, .out = 32, .parameterization = Parameterization::ntk};
  const auto make = [&](Generator& rng) {
    return std::make_unique<Sequential>(Linear(first, rng), make_layer(), Linear(last, rng));
  };
  Generator rng(1);
  const Tensor x = normal({3, 3}, rng, 0, 1, f64);
  const infinite::Kernel k = infinite::limit(*make(rng))(x);
  // 32 outputs make the NNGP kernel's estimate sharp; the NTK of one will do.
  const auto sampled =
      infinite::monte_carlo_kernel(make, x, x, rng, {.draws = 300, .kernel = {.channels = 1}});
  const auto z = [](const Tensor& got, const Tensor& limit, const Tensor& se) {
    return amax(abs(got - limit) / se).item();
  };
  expect_near("NNGP: error in s.e.", z(sampled.nngp, k.nngp, sampled.nngp_se), 0, 4);
  expect_near("NTK: error in s.e.", z(sampled.ntk, k.ntk, sampled.ntk_se), 0, 4);
}
