// Rotary positions, ALiBi and relative biases, compared with the definitions in their papers.

#include "ladon/layers/extra/attention/attention_variants.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/tests/support.h"

namespace ladon::attention_variants_test {
namespace {

using test::expect_error;
using test::gaussian;

/// Logits of one head of x, queries and keys alike, at positions p.
Tensor turned_logits(const RotaryPositions& rotary, const Tensor& x, const Tensor& p) {
  const AttentionHeads h = rotary.heads({x, x, x, p, p});
  return matmul(h.q, transpose(h.k));
}

TEST(RotaryPositions, LogitsDependOnDistancesAlone) {
  const Tensor x = gaussian({1, 2, 6, 8});
  for (const RotaryOptions& o :
       {RotaryOptions{}, {.dim = 4}, {.interleaved = true}, {.base = 100, .scale = 2}}) {
    const RotaryPositions rotary(o);
    const Tensor here = turned_logits(rotary, x, arange(6));
    EXPECT_TRUE(all_close(turned_logits(rotary, x, arange(6) + 1000), here, 1e-10, 1e-10));
    EXPECT_TRUE(all_close(turned_logits(rotary, x, zeros({6}, i64)), matmul(x, transpose(x)), 1e-12,
                          1e-12));
    EXPECT_FALSE(all_close(here, matmul(x, transpose(x)), 1e-2, 1e-2));
  }
}

// Channel pair i of width d turns by position·base^(−2i/d); scale 2 turns half as far.
TEST(RotaryPositions, TurnByTheirFrequencies) {
  const Tensor one = tensor({1, 0, 1, 0}, {1, 1, 1, 4}, f64),
               p = from_vector<std::int64_t>({3}, {1});
  const auto turned = [&](const RotaryOptions& o) {
    return RotaryPositions(o).heads({one, one, one, p, p}).q.to_vector();
  };
  const double slow = 3 * std::pow(100, -0.5);
  const std::vector<double> halves = turned({.base = 100}),
                            pairs = turned({.base = 100, .interleaved = true}),
                            scaled = turned({.base = 100, .scale = 2});
  // halves: pairs (0, 2), which is (1, 1), and (1, 3)
  EXPECT_NEAR(halves[0], std::cos(3) - std::sin(3), 1e-14);
  EXPECT_NEAR(halves[2], std::cos(3) + std::sin(3), 1e-14);
  EXPECT_EQ(halves[1], 0);
  EXPECT_NEAR(pairs[0], std::cos(3), 1e-14);
  EXPECT_NEAR(pairs[1], std::sin(3), 1e-14);
  EXPECT_NEAR(pairs[2], std::cos(slow), 1e-14);
  EXPECT_NEAR(pairs[3], std::sin(slow), 1e-14);
  EXPECT_NEAR(scaled[0], std::cos(1.5) - std::sin(1.5), 1e-14);
}

// Press et al. 2022: a geometric sequence from 2^(−8/n); for 12 heads those of 8 and every other of
// 16.
TEST(AlibiBias, HasTheSlopesOfThePaper) {
  const std::vector<double> eight = AlibiBias(8).slopes.to_vector();
  for (int h = 0; h < 8; ++h) EXPECT_EQ(eight[h], std::exp2(-(h + 1)));
  const std::vector<double> twelve = AlibiBias(12).slopes.to_vector();
  for (int h = 0; h < 4; ++h) EXPECT_NEAR(twelve[8 + h], std::exp2(-0.5 * (2 * h + 1)), 1e-7);
  const Tensor q = gaussian({2, 2, 3, 4});
  const Tensor bias = AlibiBias(2).bias({q, q, q, arange(3), arange(3)});
  EXPECT_EQ(bias.shape(), Shape({2, 3, 3}));
  EXPECT_EQ(at(bias, {0, 2, 0}).item(), -2 * std::exp2(-4));
  EXPECT_EQ(at(bias, {1, 1, 1}).item(), 0);
}

// Raffel et al. 2020 with 32 buckets, both directions: 16 of each, of which 8 are for one distance,
// the others grow to 128 by the power (128/8)^(1/8) = √2: distance 8·2 = 16 is 2 of 8 steps beyond.
TEST(RelativeBias, BucketsAreThoseOfThePaper) {
  Generator rng(1);
  const RelativeBias both({.heads = 2}, rng);
  EXPECT_EQ(both.bucket(0), 0);
  for (std::int64_t d = 1; d < 8; ++d) {
    EXPECT_EQ(both.bucket(-d), d);
    EXPECT_EQ(both.bucket(d), 16 + d);
  }
  EXPECT_EQ(both.bucket(-8), 8);
  EXPECT_EQ(both.bucket(-12), 9);
  EXPECT_EQ(both.bucket(17), 16 + 10);
  EXPECT_EQ(both.bucket(-127), 15);
  EXPECT_EQ(both.bucket(5000), 31);
  const RelativeBias back({.heads = 2, .bidirectional = false}, rng);
  EXPECT_EQ(back.bucket(3), 0);  // later keys are hidden by the causal mask
  EXPECT_EQ(back.bucket(-15), 15);
  EXPECT_EQ(back.bucket(-1000), 31);
}

TEST(RelativeBias, IsTrained) {
  Generator rng(2);
  RelativeBias bias({.heads = 2, .buckets = 8, .max_distance = 6}, rng);
  bias.to(f64);
  const Tensor q = gaussian({1, 2, 5, 4});
  const AttentionHeads h{q, q, q, arange(5), arange(5)};
  EXPECT_EQ(at(bias.bias(h), {1, 4, 2}).item(), at(bias.weight, {bias.bucket(-2), 1}).item());
  const auto moved = [&](const std::vector<Tensor>& in) {
    RelativeBias other = bias;
    other.weight = in[0];
    return other.bias(h);
  };
  EXPECT_TRUE(gradcheck(moved, {parameter(bias.weight.detach())}));
  Generator other(3);
  MultiHeadAttention layer({.dim = 8, .heads = 2, .hook = bias}, other);
  EXPECT_EQ(layer.named_parameters().back().first, "hook.weight");
}

TEST(AttentionVariants, RefuseWhatDoesNotFit) {
  Generator rng(1);
  expect_error([] { RotaryPositions({.dim = 3}); }, "dim must be even");
  expect_error([] { RotaryPositions({.base = -1}); }, "base and scale must be positive");
  expect_error([] { AlibiBias(0); }, "heads must be positive");
  expect_error([&] { RelativeBias({.heads = 2, .buckets = 3}, rng); }, "a positive multiple of 4");
  const Tensor q = gaussian({1, 3, 2, 5});
  const AttentionHeads h{q, q, q, arange(2), arange(2)};
  expect_error([&] { RotaryPositions().heads(h); }, "rotates 5 channels in pairs");
  expect_error([&] { RotaryPositions({.dim = 6}).heads(h); }, "but heads have 5");
  expect_error([&] { AlibiBias(2).bias(h); }, "has slopes for 2 heads, but queries have 3");
  expect_error([&] { RelativeBias({.heads = 2}, rng).bias(h); }, "has biases for 2 heads");
  MultiHeadAttention layer(
      {.dim = 4, .heads = 2, .projection_bias = false, .hook = RotaryPositions()}, rng);
  expect_error([&] { infinite::limit(layer)(gaussian({2, 3, 4})); }, "no limit is known");
}

}  // namespace
}  // namespace ladon::attention_variants_test
