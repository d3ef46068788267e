// Limits that are estimated by random draws: the number of independent estimates (replicates) that
// a call averages, and their standard errors.

#include <cmath>

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::replicates_test {
namespace {

using infinite::Get;
using infinite::gram;
using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;

MultiHeadAttention softmax_layer(const LimitDraws& draws = {}) {
  Generator rng(2);
  return MultiHeadAttention({.dim = 32, .heads = 4, .limit_draws = draws}, rng);
}

Tensor inputs(std::int64_t count, std::int64_t tokens = 10) {
  Generator rng(7);
  return normal({count, tokens, 32}, rng, 0, 1, f64);
}

/// Root of the mean over all tokens of (standard error/variance)².
double relative_error(const Kernel& k) {
  double sum = 0;
  for (std::int64_t n = 0; n < k.nngp.size(0); ++n)
    sum += mean(square(diagonal(at(k.nngp_se, {n, n})) / diagonal(at(k.nngp, {n, n})))).item();
  return std::sqrt(sum / static_cast<double>(k.nngp.size(0)));
}

// Of 2 to 16 inputs of some 10 tokens with channels of their own, by default.
TEST(Replicates, OfSmallInputsAreWithinOnePercent) {
  const auto by = limit(softmax_layer());
  for (const auto& [count, tokens] : {std::pair(2, 3), {2, 10}, {16, 3}, {5, 12}, {16, 10}}) {
    const Kernel k = by(inputs(count, tokens), Get::nngp);
    EXPECT_LT(relative_error(k), 0.01) << count << " inputs of " << tokens;
  }
}

// The stated errors are those of the estimates: against one of 40,000 draws, and between seeds.
TEST(Replicates, ErrorsAreThoseThatAreStated) {
  const Tensor x = inputs(3);
  const Kernel exact = limit(softmax_layer({.samples = 40'000, .seed = 99}))(x);
  for (const auto& [mean_of, error_of, right] :
       {std::tuple(&Kernel::nngp, &Kernel::nngp_se, exact.nngp),
        {&Kernel::ntk, &Kernel::ntk_se, exact.ntk}}) {
    double sum = 0;
    constexpr int seeds = 3;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const Kernel k = limit(softmax_layer({.seed = seed}))(x);
      ASSERT_EQ((k.*error_of).shape(), (k.*mean_of).shape());
      sum += mean(square((k.*mean_of - right) / (k.*error_of))).item() / seeds;
    }
    EXPECT_GT(sum, 0.5);  // E t² with 15 degrees of freedom is 1.15; entries depend on each other
    EXPECT_LT(sum, 2);
  }
}

TEST(Replicates, AreThoseOfAGram) {
  const auto by = limit(softmax_layer());
  const Tensor x = inputs(3), y = inputs(2);
  ASSERT_EQ(by.replicates(x), 16);
  for (const Get get : {Get::nngp, Get::ntk}) {
    const auto g = gram(by, x, {.get = get, .replicates = 16});
    const Kernel k = by(x, get);
    EXPECT_TRUE(all_close(k.nngp, g.nngp, 1e-13, 1e-14));
    EXPECT_TRUE(all_close(k.nngp_se, g.nngp_se, 1e-9, 1e-12));
    EXPECT_EQ(k.ntk_se.defined(), get == Get::ntk);
    if (get == Get::ntk) {
      EXPECT_TRUE(all_close(k.ntk_se, g.ntk_se, 1e-9, 1e-12));
    }
  }
  // One by number, and as many as are asked for, from that number on.
  const auto from = [&](std::uint64_t number) { return by.with_replicate(number)(x).nngp; };
  const Kernel two = by.with_replicate(5).with_replicates(2)(x);
  EXPECT_TRUE(all_close(two.nngp, 0.5 * (from(5) + from(6)), 1e-13, 1e-14));
  EXPECT_TRUE(all_close(two.nngp_se, 0.5 * abs(from(5) - from(6)), 1e-9, 1e-12));
  EXPECT_FALSE(by.with_replicate(0)(x).nngp_se.defined());
  EXPECT_TRUE(all_close(by(y, x).nngp, gram(by, y, x, {.replicates = 16}).nngp, 1e-13, 1e-14));
  test::expect_error([&] { by.with_replicates(0); }, "at least 1 replicate, got 0");
}

// A number of draws that is given is one estimate of so many, as are closed forms.
TEST(Replicates, OfAGivenNumberOfDrawsAreOne) {
  const Tensor x = inputs(2);
  const auto by = limit(softmax_layer({.samples = 256}));
  EXPECT_EQ(by.replicates(x), 1);
  const Kernel k = by(x);
  EXPECT_FALSE(k.nngp_se.defined() || k.ntk_se.defined());
  EXPECT_TRUE(all_equal(k.nngp, limit(softmax_layer()).with_replicate(0)(x).nngp));
  EXPECT_TRUE(by.with_replicates(3)(x).nngp_se.defined());
  const auto closed = limit(softmax_layer());
  EXPECT_EQ(closed.replicates(inputs(4, 2)), 1);  // two tokens
  EXPECT_FALSE(closed(inputs(4, 2)).nngp_se.defined());
  Generator rng(1);
  EXPECT_THROW(MultiHeadAttention({.dim = 4, .heads = 1, .limit_draws = {.samples = 1}}, rng),
               Error);
}

// It follows from the visible tokens of the landmarks: neither padding nor the inputs of a call
// change it where the landmarks are named, so blocks of one Gram matrix agree.
TEST(Replicates, FollowFromTheVisibleTokensOfTheLandmarks) {
  const auto by = limit(softmax_layer());
  EXPECT_EQ(by.replicates(inputs(25)), 16);
  EXPECT_EQ(by.replicates(inputs(40)), 10);
  EXPECT_EQ(by.replicates(inputs(400)), 8);
  EXPECT_EQ(by.replicates(inputs(2, 2000)), 4);
  const Tensor x = inputs(40);
  const Tensor longer = concat({x, full({40, 6, 32}, NAN, f64)}, 1);
  const Tensor mask = expand(concat({ones({1, 10}, boolean), zeros({1, 6}, boolean)}, 1), {40, 16});
  const Inputs padded{longer, contiguous(mask)}, plain{x, ones({40, 10}, boolean)};
  const auto few = by.with_landmarks(plain.rows(0, 30)),
             same = by.with_landmarks(padded.rows(0, 30));
  EXPECT_EQ(few.replicates(plain), same.replicates(padded));
  const Kernel k = few(plain.rows(0, 2), Get::nngp), p = same(padded.rows(0, 2), Get::nngp);
  const Slice seen{.stop = 10}, both{.stop = 2};
  EXPECT_TRUE(all_close(at(p.nngp, {both, both, seen, seen}), k.nngp, 1e-12, 1e-13));
  const Kernel part = few(plain.rows(1, 2), plain.rows(0, 2), Get::nngp);
  EXPECT_TRUE(all_close(part.nngp, slice(k.nngp, 0, {1, 2}), 1e-12, 1e-13));
}

// The mean has the gradient of its estimates, and pivots that were found are the ones it averages.
TEST(Replicates, AreDifferentiable) {
  Generator rng(3);
  MultiHeadAttentionOptions options{.dim = 8, .heads = 2};
  options.prior.parameterization = Parameterization::ntk;
  MultiHeadAttention attention(options, rng);
  const Tensor x = normal({2, 3, 8}, rng, 0, 1, f64), w = normal({2, 2, 3, 3}, rng, 0, 1, f64);
  const Tensor qk = parameter(scalar(1.2, f64));
  attention.set_hyperparameter("query_key_std", qk);
  const auto by = limit(attention).with_pivots(x, 4);
  ASSERT_EQ(by.replicates(x), 4);
  const auto slope = [&](const infinite::Limit& from) {
    return grad({sum(w * from(x, Get::nngp).nngp)}, {qk})[0].item();
  };
  double each = 0;
  for (std::uint64_t r = 0; r < 4; ++r) each += slope(by.with_replicate(r)) / 4;
  EXPECT_NEAR(slope(by), each, 1e-12 * std::abs(each));
  EXPECT_FALSE(by(x).nngp_se.requires_grad());
}

}  // namespace
}  // namespace ladon::replicates_test
