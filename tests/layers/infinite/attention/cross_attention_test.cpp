// The limit of cross-attention, whose queries see other tokens than its keys and values.

#include "ladon/autograd/functional.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::cross_attention_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::KernelNode;
using infinite::limit;
using test::ntk;

/// Positions [begin, end) of sequences.
KernelNode positions(const KernelNode& k, std::int64_t begin, std::int64_t end) {
  const Slice part{.start = begin, .stop = end};
  const infinite::Step step{.makes = k.law,
                            .positions = Shape{end - begin},
                            .mask = [part](const Tensor& mask) { return slice(mask, 1, part); }};
  return infinite::map_pairs(k, step, [part](const infinite::Pairs& p) {
    return p.each([&](const Tensor& x) { return slice(slice(x, -1, part), -2, part); });
  });
}

/// Its first tokens attend to the others.
struct Attending : Layer {
  MultiHeadAttention attention;
  std::int64_t queries;

  Attending(MultiHeadAttention layer, std::int64_t count)
      : attention(std::move(layer)), queries(count) {}
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    const Tensor keys = slice(x, 1, {.start = queries});
    const Tensor seen = mask.defined() ? slice(mask, 1, {.start = queries}) : mask;
    return attention(slice(x, 1, {.stop = queries}), keys, keys,
                     seen.defined() ? padding(seen) : AttentionMask{});
  }
  KernelNode limit(const KernelNode& k) const override {
    return attention.limit(positions(k, 0, queries), positions(k, queries, k.position_count()));
  }
  void visit(Visitor& v) override { v("attention", attention); }
  std::string describe() const override { return "Attending"; }
};

/// All tokens attend to all, by way of cross-attention.
struct Across : Layer {
  MultiHeadAttention attention;
  explicit Across(MultiHeadAttention layer) : attention(std::move(layer)) {}
  Tensor forward(const Tensor& x) const override { return attention(x); }
  KernelNode limit(const KernelNode& k) const override { return attention.limit(k, k); }
  void visit(Visitor& v) override { v("attention", attention); }
  std::string describe() const override { return "Across"; }
};

infinite::NetworkFactory network(MultiHeadAttentionOptions options, std::int64_t queries) {
  options.dim = 96;
  return [options, queries](Generator& rng) {
    auto net = std::make_unique<Sequential>();
    net->append(Linear(
        {.in = 4, .out = 96, .parameterization = ntk, .weight_std = 1.1, .bias_std = 0.2}, rng));
    net->append(Attending(MultiHeadAttention(options, rng), queries));
    return net;
  };
}

Inputs sequences(std::int64_t n, std::int64_t tokens, std::uint64_t seed) {
  Generator rng(seed);
  return normal({n, tokens, 4}, rng, 0, 1, f64);
}

TEST(CrossAttention, IsTheLimitOfNetworks) {
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const std::int64_t keys : {2, 3}) {
      SCOPED_TRACE(detail::join(to_string(zeta), ", ", keys, " keys"));
      auto options = test::sqrt_untied(zeta);
      options.limit_draws.samples = 4000;
      test::expect_limit(network(options, 2), sequences(2, 2 + keys, 1), sequences(1, 2 + keys, 2),
                         test::fewer);
    }
}

TEST(CrossAttention, OfLinearScalingAveragesItsKeys) {
  auto options = test::wide(AttentionScaling::linear, Weighting::softmax, 1, 256);
  options.form.tied = false;
  test::expect_limit(network(options, 2), sequences(2, 5, 1), sequences(1, 5, 2), test::fewer);
}

// Keys that are masked are no keys.
TEST(CrossAttention, SeesNoMaskedKeys) {
  const Inputs x = sequences(2, 6, 3);
  const Inputs masked{x.x, cast(tensor({1, 1, 1, 1, 0, 0}, {1, 6}) * ones({2, 1}), boolean)};
  for (const Weighting zeta : {Weighting::softmax, Weighting::identity, Weighting::relu}) {
    Generator rng(1);
    const auto net = network(test::sqrt_untied(zeta), 2)(rng);
    const Kernel some = limit(*net)(masked), few = limit(*net)(Inputs(slice(x.x, 1, {.stop = 4})));
    // Four keys of which two are seen are averaged over draws, two are not.
    const double tolerance = zeta == Weighting::softmax ? 0.02 : 1e-12;
    EXPECT_TRUE(all_close(some.nngp, few.nngp, tolerance, tolerance)) << to_string(zeta);
    EXPECT_TRUE(all_close(some.ntk, few.ntk, tolerance, tolerance)) << to_string(zeta);
  }
}

/// Three inputs of two queries and four keys, some of them masked, with padding before and after
/// both, in which `fill` stands.
Inputs in_padding(std::int64_t before, std::int64_t after, double fill) {
  const Inputs x = sequences(3, 6, 3);
  Tensor mask = ones({3, 6}, boolean);
  fill_(at(mask, {1, 4}), 0);
  fill_(at(mask, {2, 1}), 0);
  std::vector<Tensor> tokens, seen;
  const auto pad = [&](std::int64_t count) {
    tokens.push_back(full({3, count, 4}, fill, f64));
    seen.push_back(zeros({3, count}, boolean));
  };
  for (const Slice& part : {Slice{.stop = 2}, Slice{.start = 2}}) {
    pad(before);
    tokens.push_back(slice(x.x, 1, part));
    seen.push_back(slice(mask, 1, part));
    pad(after);
  }
  mask = concat(seen, 1);
  return {where(unsqueeze(mask, -1), concat(tokens, 1), scalar(fill, f64)), mask};
}

// Nor is padding of queries or keys anything, however much there is and whatever stands in it: also
// in what coordinates leave to the inputs themselves, in the same draws.
TEST(CrossAttention, HasNoPadding) {
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs})
    for (const std::int64_t coordinates : {3, 128}) {
      SCOPED_TRACE(detail::join(to_string(zeta), ", ", coordinates, " coordinates"));
      auto options = test::sqrt_untied(zeta);
      options.limit_draws = {.samples = 8, .coordinates = coordinates};
      const auto at_queries = [&](std::int64_t before, std::int64_t after, double fill) {
        Generator rng(1);
        const auto net = network(options, before + 2 + after)(rng);
        const infinite::Limit by = limit(*net);
        const Inputs x = in_padding(before, after, fill);
        if (zeta == Weighting::softmax) {
          EXPECT_EQ(coordinates == 3, by.unexplained(x).at(1) > 0.01);
        }
        const Slice all, seen{.start = before, .stop = before + 2};
        const Kernel k = by(x);
        const Tensor mask = slice(x.mask, 1, seen),
                     both = logical_and(reshape(mask, {3, 1, 2, 1}), reshape(mask, {1, 3, 1, 2}));
        const auto cut = [&](const Tensor& y) {
          return where(both, at(y, {all, all, seen, seen}), scalar(0, f64));
        };
        return stack({cut(k.nngp), cut(k.ntk)}, 0);
      };
      const Tensor expected = at_queries(0, 0, 0);
      for (const auto& [before, after] : {std::pair(0, 0), {0, 2}, {1, 0}, {2, 1}})
        for (const double fill : {7.0, 1e300, double(NAN), double(INFINITY)})
          EXPECT_TRUE(all_close(at_queries(before, after, fill), expected, 1e-12, 1e-12))
              << before << " and " << after << " of " << fill;
    }
}

// With the same tokens as queries and keys it is self-attention, which has faster forms.
TEST(CrossAttention, OfTheSameTokensIsSelfAttention) {
  const Inputs x = sequences(3, 3, 4);
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs}) {
    auto options = test::sqrt_untied(zeta);
    options.limit_draws.samples = 20000;
    Generator rng(1);
    const MultiHeadAttention layer(options, rng);
    if (zeta != Weighting::softmax) {
      const Kernel cross = limit(Across(layer))(x), self = limit(layer)(x);
      EXPECT_TRUE(all_close(cross.nngp, self.nngp, 1e-12, 1e-12)) << to_string(zeta);
      EXPECT_TRUE(all_close(cross.ntk, self.ntk, 1e-12, 1e-12)) << to_string(zeta);
      continue;
    }
    // Other draws: the tokens are given twice.
    const Attending twice(layer, 3);
    const Kernel cross = limit(twice)(Inputs(concat({x.x, x.x}, 1))), self = limit(layer)(x);
    EXPECT_TRUE(all_close(cross.nngp, self.nngp, 0.02, 0.02));
    EXPECT_TRUE(all_close(cross.ntk, self.ntk, 0.05, 0.05));
  }
}

TEST(CrossAttention, IsDifferentiable) {
  const Inputs x = sequences(3, 5, 5);
  for (const Weighting zeta :
       {Weighting::softmax, Weighting::identity, Weighting::relu, Weighting::abs}) {
    auto options = test::sqrt_untied(zeta);
    options.limit_draws.samples = 6;
    Generator rng(1);
    const auto net = network(options, 2)(rng);
    EXPECT_NO_THROW(gradcheck(
        [&](const std::vector<Tensor>& in) {
          const Kernel k = limit(*net)(Inputs(in[0]));
          return concat({flatten(k.nngp), flatten(k.ntk)}, 0);
        },
        {clone(x.x).set_requires_grad()}))
        << to_string(zeta);
  }
}

// If coordinates leave something out of queries and keys, both name what an input draws.
TEST(CrossAttention, WithARemainderIsDifferentiableByItsHyperparameters) {
  const Inputs x = sequences(3, 6, 5);
  auto options = test::sqrt_untied(Weighting::softmax);
  options.limit_draws = {.samples = 4, .coordinates = 2};
  Generator rng(1);
  const auto net = network(options, 3)(rng);
  for (const double share : limit(*net).unexplained(x)) EXPECT_GT(share, 0.05);
  std::vector<std::string> paths;
  std::vector<Tensor> at;
  for (const auto& [path, value] : net->hyperparameters()) {
    paths.push_back(path);
    at.push_back(clone(value).set_requires_grad());
  }
  EXPECT_NO_THROW(gradcheck(
      [&](const std::vector<Tensor>& h) {
        for (std::size_t i = 0; i < h.size(); ++i) net->set_hyperparameter(paths[i], h[i]);
        const Kernel k = limit(*net)(x);
        return concat({flatten(k.nngp), flatten(k.ntk)}, 0);
      },
      at));
}

TEST(CrossAttention, RefusesWhatHasNone) {
  Generator rng(1);
  const Inputs x = sequences(2, 3, 1);
  const auto refuse = [&](const MultiHeadAttentionOptions& options, const std::string& why) {
    test::expect_error([&] { limit(Across(MultiHeadAttention(options, rng)))(x); }, why);
  };
  auto options = test::sqrt_untied(Weighting::identity);
  options.causal = true;
  refuse(options, "cross-attention with a causal mask");
  refuse(test::linear_tied(Weighting::softmax), "cross-attention with tied queries and keys");
  options = test::sqrt_untied(Weighting::identity);
  options.key_dim = 5;
  refuse(options, "5");
  const MultiHeadAttention layer(test::sqrt_untied(Weighting::relu), rng);
  const Kernel diagonal = infinite::input_kernel(x).diagonal();
  test::expect_error([&] { limit(Across(layer))(diagonal); }, "needs all pairs of positions");
  test::expect_error([&] { limit(layer)(diagonal); }, "needs all pairs of positions");
}

}  // namespace
}  // namespace ladon::cross_attention_test
