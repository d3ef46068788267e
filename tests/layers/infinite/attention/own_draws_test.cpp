// Softmax attention on inputs with more dimensions than the coordinates that all inputs share: the
// random numbers that each input draws separately for the remaining dimensions.

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::own_draws_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;

MultiHeadAttention attention(std::int64_t dim, const LimitDraws& draws) {
  Generator rng(2);
  MultiHeadAttentionOptions options = test::sqrt_untied(Weighting::softmax);
  options.dim = dim;
  options.limit_draws = draws;
  return MultiHeadAttention(options, rng);
}

/// Behind a ReLU, so that tokens have more dimensions than channels.
Sequential net_with_remainder(std::int64_t samples = 8, std::int64_t coordinates = 3) {
  Generator rng(2);
  const auto dense = [&](std::int64_t in, std::int64_t out) {
    return Linear(
        {.in = in, .out = out, .parameterization = test::ntk, .weight_std = 1.3, .bias_std = 0.2},
        rng);
  };
  const Activation relu(Nonlinearity::relu);
  return Sequential(dense(4, 8), relu,
                    attention(8, {.samples = samples, .coordinates = coordinates}), relu,
                    MeanPositions(), dense(64, 1));
}

Tensor kernels_of(const infinite::Limit& by, const Inputs& x) {
  const Kernel k = by(x);
  return concat({flatten(k.nngp), flatten(k.ntk)}, 0);
}

/// {path, value} of all that is not 0.
std::vector<std::pair<std::string, Tensor>> deviations(const Sequential& net) {
  auto all = net.hyperparameters();
  std::erase_if(all, [](const auto& h) { return h.second.item() == 0; });
  return all;
}

// An input's own draws are named by the input, which no hyper-parameter changes.
TEST(OwnDraws, AreContinuousInEveryHyperparameter) {
  Generator rng(5);
  const Inputs x{normal({4, 5, 4}, rng, 0, 1, f64), bernoulli({4, 5}, rng, 0.8)};
  Sequential net = net_with_remainder();
  ASSERT_GT(limit(net).unexplained(x).at(0), 0.05);
  const Tensor before = kernels_of(limit(net), x);
  const double size = amax(abs(before)).item();
  const auto all = deviations(net);
  ASSERT_GE(all.size(), 6u);
  for (const auto& [path, value] : all) {
    net.set_hyperparameter(path, value + 1e-12);
    EXPECT_LT(amax(abs(kernels_of(limit(net), x) - before)).item(), 1e-9 * size) << path;
    net.set_hyperparameter(path, value);
  }
}

TEST(OwnDraws, AreDifferentiableByEveryHyperparameter) {
  Generator rng(5);
  const Tensor x = normal({3, 4, 4}, rng, 0, 1, f64);
  Sequential net = net_with_remainder(4);
  std::vector<std::string> paths;
  std::vector<Tensor> at;
  for (const auto& [path, value] : deviations(net)) {
    paths.push_back(path);
    at.push_back(parameter(clone(value)));
  }
  EXPECT_NO_THROW(gradcheck(
      [&](const std::vector<Tensor>& h) {
        for (std::size_t i = 0; i < h.size(); ++i) net.set_hyperparameter(paths[i], h[i]);
        return kernels_of(limit(net).with_pivots(x, 1), x);
      },
      at));
}

// Masked tokens do not count, nor the sign of a zero; another input draws other numbers.
TEST(OwnDraws, AreNamedByWhatIsSeenOfTheInput) {
  Generator rng(5);
  Inputs x{normal({3, 5, 4}, rng, 0, 1, f64), ones({3, 5}, boolean)};
  fill_(at(x.mask, {1, 2}), 0);
  fill_(at(x.x, {0, 0, 0}), 0);
  const auto names = [&](const Inputs& of) {
    return infinite::begin(of, nullptr, {.names = true}).names[0].to_vector<std::int64_t>();
  };
  Inputs same{clone(x.x), x.mask};
  fill_(at(same.x, {1, 2}), NAN);
  fill_(at(same.x, {0, 0, 0}), -0.0);
  EXPECT_EQ(names(same), names(x));
  EXPECT_EQ(names(x.rows(2, 3)).at(0), names(x).at(2));
  EXPECT_EQ(names(Inputs(slice(x.x, 0, {.start = 2}))).at(0), names(x).at(2));  // no mask: all seen
  Inputs other = same;
  other.mask = clone(x.mask);
  fill_(at(other.mask, {2, 0}), 0);
  EXPECT_NE(names(other).at(2), names(x).at(2));
  EXPECT_NE(names(x).at(0), names(x).at(1));
  const Tensor words = from_vector<std::int64_t>({1, 2, 3, 1, 2, 4, 1, 2, 3}, {3, 3});
  EXPECT_EQ(names(words).at(0), names(words).at(2));
  EXPECT_NE(names(words).at(0), names(words).at(1));
}

// Along a hyper-parameter, coordinates that keep their tokens make no jumps, as others do.
TEST(OwnDraws, AreContinuousFarAwayWithTheSamePivots) {
  Generator rng(5);
  const Tensor x = normal({5, 5, 4}, rng, 0, 1, f64);
  Sequential net = net_with_remainder(2, 6);
  const auto by = limit(net).with_pivots(x, 1);
  EXPECT_TRUE(all_equal(kernels_of(by, x), kernels_of(limit(net), x)));
  const auto largest_step = [&](const infinite::Limit& from) {
    constexpr int steps = 150;
    Tensor last;
    double largest = 0, sum = 0;
    for (int i = 0; i <= steps; ++i) {
      net.set_hyperparameter("layers.0.bias_std", scalar(0.2 + 2.0 * i / steps, f64));
      const Tensor k = from(x, infinite::Get::nngp).nngp;
      const double step = last.defined() ? amax(abs(k - last)).item() : 0;
      largest = std::max(largest, step);
      sum += step;
      last = k;
    }
    return largest / (sum / steps);
  };
  EXPECT_LT(largest_step(by), 3);
  EXPECT_GT(largest_step(limit(net)), 4);
}

// Once the tokens of pivots are dependent, their coordinates are 0, and the kernel is still
// right.
TEST(OwnDraws, WithPivotsThatExplainEachOtherHaveTheirLaw) {
  Generator rng(5);
  const Tensor x = normal({5, 4, 4}, rng, 0, 1, f64);
  Sequential net(Linear({.in = 4, .out = 4, .parameterization = test::ntk, .bias_std = 1}, rng),
                 attention(4, {.samples = 2000}), MeanPositions());
  const auto by = limit(net).with_pivots(x, 1);
  ASSERT_EQ(by.pivots().at(0).size(), 5u);  // four channels and the bias
  net.set_hyperparameter("layers.0.bias_std", scalar(0, f64));
  ASSERT_EQ(limit(net).with_pivots(x, 1).pivots().at(0).size(), 4u);
  ASSERT_EQ(by.with_pivots(x, 1).pivots().at(0).size(), 4u);  // found anew
  const Tensor k = by(x).nngp, expected = limit(net)(x).nngp;
  EXPECT_TRUE(all_close(k, expected, 0.03, 0.03));
  EXPECT_LT(by.unexplained(x).at(0), 1e-10);
}

}  // namespace
}  // namespace ladon::own_draws_test
