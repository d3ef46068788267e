#pragma once
// Helpers of the tests of Gram matrices: small networks, and comparison by bits.

#include <gtest/gtest.h>

#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/same_bits.h"
#include "ladon/tests/support.h"

namespace ladon::test {

inline LinearOptions random_linear(std::int64_t in) {
  return {.in = in,
          .out = 2,
          .parameterization = Parameterization::ntk,
          .weight_std = 1.2,
          .bias_std = 0.3};
}

inline Sequential relu_net(std::int64_t in) {
  Generator rng(1);
  return Sequential(Linear(random_linear(in), rng), Activation(Nonlinearity::relu),
                    Linear(random_linear(2), rng), Activation(Nonlinearity::gelu),
                    Linear(random_linear(2), rng));
}

/// Attention network without a readout: its outputs still have positions.
inline Sequential attention_net(std::int64_t in) {
  Generator rng(1);
  return Sequential(MultiHeadAttention({.dim = in,
                                        .heads = 1,
                                        .form = {.scaling = AttentionScaling::linear, .tied = true},
                                        .prior = {.parameterization = Parameterization::ntk}},
                                       rng),
                    Activation(Nonlinearity::relu), Linear(random_linear(in), rng));
}

inline Tensor draw(const Shape& shape, std::uint64_t seed = 2) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

inline void expect_same_bits(const infinite::Gram& a, const infinite::Gram& b,
                             const std::string& what) {
  EXPECT_TRUE(same_bits(a.nngp, b.nngp)) << what << ": NNGP";
  EXPECT_TRUE(same_bits(a.ntk, b.ntk)) << what << ": NTK";
  EXPECT_TRUE(same_bits(a.nngp_se, b.nngp_se)) << what << ": NNGP's standard error";
  EXPECT_TRUE(same_bits(a.ntk_se, b.ntk_se)) << what << ": NTK's standard error";
}

/// A layer whose limit counts as estimated by sampling: in replicate r of the estimate it adds r to
/// the NNGP kernel and −2r to the NTK.
struct Sampling : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override {
    const infinite::Step step{.makes = k.law, .draws = infinite::Draws()};
    return infinite::map_pairs(k, step, [](const infinite::Pairs& p) {
      const auto r = static_cast<double>(p.drawn.replicate);
      return infinite::PairKernels{p.nngp + r, p.ntk.defined() ? p.ntk - 2 * r : Tensor()};
    });
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Sampling"; }
};

/// A layer whose limit doubles the kernel of an input with itself, and no other kernel, as dropout
/// does.
struct Noise : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override {
    return infinite::map_pairs(k, {.makes = k.law}, [](const infinite::Pairs& p) {
      infinite::PairKernels y{p.nngp, p.ntk};
      if (p.same.defined()) y.nngp = where(p.same, 2 * p.nngp, p.nngp);
      return y;
    });
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Noise"; }
};

}  // namespace ladon::test
