// Tangent kernels of softmax attention: every way of computing them is compared with the recorded
// operations, at the same random draws.

#include <functional>

#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::features_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;

/// A network, and sequences for it.
struct Case {
  std::int64_t positions, dim;  ///< T, and about R
  bool linear = true;           ///< t = k; otherwise t is no linear function of k.
  std::int64_t coordinates = 128;
  bool encoded = false;  ///< Queries and keys see positions, values do not: k ≠ v.
};

Sequential network(const Case& c, bool causal, Generator& rng) {
  MultiHeadAttentionOptions options = test::sqrt_untied(Weighting::softmax);
  options.dim = 8;
  options.causal = causal;
  options.prior = {};  // standard parameterization, in which all biases are trained
  options.limit_draws = {.samples = 20, .coordinates = c.coordinates};
  if (c.encoded) options.positions = {.encoding = {.grid = {c.positions}}};
  Sequential net;
  if (c.linear) {
    net.append(Linear(
        {.in = c.dim, .out = 8, .parameterization = test::ntk, .weight_std = 1.3, .bias_std = 0.2},
        rng));
  } else {  // t = (64·k + 1)/r + k + 1, where k/r are the normalized kernels
    net.append(Linear({.in = c.dim, .out = 8}, rng));
    net.append(LayerNorm({.dim = 8}));
  }
  net.append(MultiHeadAttention(options, rng));
  return net;
}

/// Largest deviation from the composed operations, which recorded inputs take, as a share of the
/// largest entry.
double deviation(const Case& c, bool causal, bool masked) {
  Generator rng(4);
  const auto inputs = [&](std::int64_t n) {
    Tensor mask;
    if (masked) {
      mask = bernoulli({n, c.positions}, rng, 0.7);
      fill_(select(mask, 1, 0), 0);  // a causal query that sees no key
      fill_(select(mask, 1, c.positions - 1), 1);
    }
    return Inputs{normal({n, c.positions, c.dim}, rng, 0, 1, f64), mask};
  };
  const Sequential net = network(c, causal, rng);
  const Inputs a = inputs(2), b = inputs(1);
  const auto by = limit(net).with_landmarks(a);
  const auto recorded = [](const Inputs& x) {
    return Inputs{clone(x.x).set_requires_grad(), x.mask};
  };
  double worst = 0;
  const auto compare = [&](const Kernel& fast, const Kernel& composed) {
    EXPECT_TRUE(composed.ntk.requires_grad());
    for (Tensor Kernel::*k : {&Kernel::nngp, &Kernel::ntk}) {
      const Tensor other = (composed.*k).detach();
      worst = std::max(worst, amax(abs(fast.*k - other)).item() / amax(abs(other)).item());
    }
  };
  const Kernel cross = by(a, b);
  compare(by(a), by(recorded(a)));
  compare(cross, by(recorded(a), b));
  EXPECT_TRUE(all_equal(by(a, b, infinite::Get::nngp).nngp, cross.nngp));
  return worst;
}

TEST(DrawFeatures, AreTheDefinitionInEveryWay) {
  const Case cases[] = {
      {.positions = 6, .dim = 2},                                     // features alone
      {.positions = 6, .dim = 3, .linear = false},                    // and products for J(t)
      {.positions = 5, .dim = 8},                                     // products for J(k) …
      {.positions = 17, .dim = 14},                                   // … by means
      {.positions = 5, .dim = 10, .linear = false},                   // products for J(k), J(t)
      {.positions = 17, .dim = 14, .linear = false},                  // … by means
      {.positions = 6, .dim = 6, .linear = false, .coordinates = 3},  // remainders
      {.positions = 6, .dim = 2, .encoded = true},                    // k ≠ v
      {.positions = 6, .dim = 3, .linear = false, .encoded = true},
      {.positions = 65, .dim = 26},  // draw by draw
      {.positions = 65, .dim = 3, .linear = false},
  };
  for (const Case& c : cases)
    for (const bool causal : {false, true})
      for (const bool masked : {false, true})
        EXPECT_LT(deviation(c, causal, masked), 1e-12)
            << c.positions << " positions of width " << c.dim << ", linear " << c.linear
            << ", encoded " << c.encoded << ", causal " << causal << ", masked " << masked;
}

}  // namespace
}  // namespace ladon::features_test
