// Infinite-width limit of the Transformer, compared with finite networks.

#include "ladon/layers/transformer/transformer.h"

#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::transformer_test {
namespace {

infinite::NetworkFactory transformer(NormPlacement norm) {
  return [norm](Generator& rng) {
    constexpr std::int64_t width = 128;
    auto net = std::make_unique<Sequential>();
    net->append(Linear({.in = 4, .out = width, .init = Init::kaiming_normal}, rng));
    net->append(TransformerEncoder({.layer = {.dim = width,
                                              .heads = 8,
                                              .hidden = 128,
                                              .dropout = 0,
                                              .norm_placement = norm,
                                              .activation = Nonlinearity::relu},
                                    .layers = 1},
                                   rng));
    net->append(Linear({.in = width, .out = 16, .init = Init::kaiming_normal}, rng));
    return net;
  };
}

// Two tokens, of which softmax needs no draws.
TEST(TransformerLimit, OfBothPlacementsOfTheNorm) {
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    const auto x = test::blocks(2);
    test::expect_limit(transformer(norm), x.a, x.b, test::fewer);
  }
}

TEST(TransformerLimit, OfGatesNormsByPowerAndSharedKeys) {
  const auto make = [](Generator& rng) {
    constexpr std::int64_t width = 128;
    auto net = std::make_unique<Sequential>();
    net->append(Linear({.in = 4, .out = width, .init = Init::kaiming_normal}, rng));
    net->append(TransformerEncoderLayer({.dim = width,
                                         .heads = 8,
                                         .hidden = 128,
                                         .dropout = 0,
                                         .activation = Nonlinearity::relu,
                                         .attention = {.kv_heads = 4},
                                         .normalization = Normalization::rms,
                                         .gated = true},
                                        rng));
    net->append(Linear({.in = width, .out = 16, .init = Init::kaiming_normal}, rng));
    return net;
  };
  const auto x = test::blocks(2);
  test::expect_limit(make, x.a, x.b, test::fewer);
}

// --- on data as they are, whose channels have means of their own ---

/// An encoder of two layers of width 128, with its inputs: kernels near 1, means from −1 to 2.
infinite::NetworkFactory on_data(NormPlacement norm) {
  return [norm](Generator& rng) {
    auto net = std::make_unique<TransformerEncoder>(
        TransformerEncoderOptions{
            .layer = {.dim = 128, .heads = 8, .hidden = 128, .dropout = 0, .norm_placement = norm},
            .layers = 2},
        rng);
    net->eval();
    return net;
  };
}
infinite::Inputs with_means(std::int64_t n, std::int64_t positions, std::int64_t width) {
  Generator rng(4);
  const Tensor means = uniform({n, positions, 1}, rng, -1, 2, f64);
  return normal({n, positions, width}, rng, 0, 0.7, f64) + means;
}

TEST(TransformerLimit, OfDataWithMeans) {
  const infinite::Inputs x = with_means(3, 2, 128);
  for (const auto norm : {NormPlacement::pre, NormPlacement::post})
    test::expect_limit(on_data(norm), x.rows(0, 2), x.rows(2, 3), test::fewer);
}

Tensor padding_of(const infinite::Inputs& x) {
  Tensor mask = ones({x.x.size(0), x.x.size(1)}, f64);
  mask.mutable_data<double>()[1] = 0;
  return cast(mask, boolean);
}

TEST(TransformerLimit, OfDataIsOneInAllWaysOfAsking) {
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    Generator rng(1);
    TransformerEncoder encoder(
        {.layer = {.dim = 8, .heads = 2, .norm_placement = norm}, .layers = 2}, rng);
    encoder.eval();
    const infinite::Limit of = infinite::limit(encoder);
    infinite::Inputs x = with_means(5, 2, 8);
    x.mask = padding_of(x);
    const infinite::Kernel k = of(x, x, infinite::Get::ntk);
    const infinite::Gram tiles =
        infinite::gram(of, x, x, {.entries = infinite::Entries::full, .tile = 2});
    EXPECT_TRUE(all_equal(tiles.nngp, k.nngp));
    EXPECT_TRUE(all_equal(tiles.ntk, k.ntk));
    const Tensor own = diagonal(k.nngp, 0, 0, 1);  // [T, T, N]
    EXPECT_TRUE(all_close(permute(own, {2, 0, 1}), k.cov1, 1e-13, 1e-13));
    const infinite::Kernel four = of(with_means(2, 4, 8));  // with draws
    EXPECT_EQ(four.ntk.shape(), (Shape{2, 2, 4, 4}));
  }
}

TEST(TransformerLimit, OfDataHasGradientsByThem) {
  Generator rng(1);
  const TransformerEncoder encoder({.layer = {.dim = 8, .heads = 2}, .layers = 1}, rng);
  const infinite::Limit of = infinite::limit(encoder);
  const Tensor x = with_means(3, 2, 8).x, by = normal({2, 1, 2, 2}, rng, 0, 1, f64);
  const auto value = [&](const Tensor& at) {
    const infinite::Kernel k =
        of(slice(at, 0, {.stop = 2}), slice(at, 0, {.start = 2}), infinite::Get::ntk);
    return sum(by * (k.nngp + 0.1 * k.ntk));
  };
  const Tensor leaf = clone(x).set_requires_grad();
  backward(value(leaf));
  for (const std::int64_t i : {0, 9, 20, 31, 47}) {
    const auto moved = [&](double h) {
      const Tensor y = clone(x);
      Tensor(y).mutable_data<double>()[i] += h;
      return value(y).item();
    };
    const double slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
    EXPECT_NEAR(flatten(leaf.grad()).data<double>()[i], slope, 1e-7 * (1 + std::abs(slope)));
  }
}

// The mean over the latents of finitely many heads is the limit.
TEST(TransformerLimit, OfDataWithFinitelyManyHeads) {
  Generator rng(1), draws(2);
  const infinite::Inputs x = with_means(2, 2, 8);
  const Sequential net(LayerNorm({.dim = 8}), MultiHeadAttention({.dim = 8, .heads = 2}, rng));
  const auto m = infinite::finite_heads(net, {.heads = 2}).moments(x, 2000, draws);
  EXPECT_LT(
      test::largest_z(infinite::limit(net)(x, infinite::Get::nngp).nngp, m.nngp.mean, m.nngp.se),
      4.5);
}

/// [Embedding – positions – two encoder layers as they come – pool – Linear], of width heads².
infinite::NetworkFactory default_encoder(std::int64_t heads, NormPlacement norm) {
  return [heads, norm](Generator& rng) {
    const std::int64_t width = heads * heads;
    auto net = std::make_unique<Sequential>(
        Embedding({.count = 6, .dim = width}, rng), SinusoidalPositions(),
        TransformerEncoder({.layer = {.dim = width,
                                      .heads = heads,
                                      .norm_placement = norm,
                                      .attention = {.limit_draws = {.samples = 1024}}},
                            .layers = 2},
                           rng),
        MeanPositions(), Linear({.in = width, .out = 32}, rng));
    net->eval();
    return net;
  };
}

/// Deviation of networks of a width from the limit, in mean diagonals of the limit, and the
/// standard error of that: NNGP and NTK one after the other.
struct Deviation {
  Tensor value, se;
};
Deviation deviation(std::int64_t heads, NormPlacement norm, const infinite::Inputs& x) {
  const auto make = default_encoder(heads, norm);
  Generator rng(11), any(5);
  const auto networks =
      infinite::monte_carlo_kernel(make, x, x, {.draws = 1000, .kernel = {.channels = 1}}, rng);
  const auto network = make(any);
  const infinite::Gram k = infinite::gram(infinite::limit(*network), x, x, {.replicates = 4});
  const auto in_diagonals = [](const Tensor& y, const Tensor& of) {
    return flatten(y) / mean(diagonal(of)).item();
  };
  const auto error = [&](const Tensor& a, const Tensor& b) { return sqrt(square(a) + square(b)); };
  return {concat({in_diagonals(networks.nngp - k.nngp, k.nngp),
                  in_diagonals(networks.ntk - k.ntk, k.ntk)},
                 0),
          concat({in_diagonals(error(networks.nngp_se, k.nngp_se), k.nngp),
                  in_diagonals(error(networks.ntk_se, k.ntk_se), k.ntk)},
                 0)};
}

// The Transformer that everybody uses, with all its defaults, on padded sentences. Networks of
// finite width w deviate by O(1/w), which two widths remove: (4·D(4w) − D(w))/3.
TEST(TransformerLimit, OfTheDefaultEncoder) {
  Generator rng(5);
  const infinite::Inputs x{randint({3, 4}, rng, 0, 6),
                           cast(tensor({1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0}, {3, 4}), boolean)};
  for (const auto norm : {NormPlacement::pre, NormPlacement::post}) {
    const Deviation narrow = deviation(8, norm, x), wide = deviation(16, norm, x);
    const Tensor left = (4 * wide.value - narrow.value) / 3;
    const Tensor se = sqrt(square(4 * wide.se) + square(narrow.se)) / 3;
    EXPECT_LT(test::largest_z(zeros_like(left), left, se), 4);
    EXPECT_LT(amax(se).item(), 0.02);  // sharp enough to see 8% anywhere
    EXPECT_GT(test::largest_z(zeros_like(left), left + 0.08, se), 4);
  }
}

TEST(TransformerLimit, OfOtherFormsAndParameterizations) {
  const auto make = [](Generator& rng) {
    constexpr std::int64_t width = 128;
    auto net = std::make_unique<Sequential>(
        Linear({.in = 4, .out = width, .parameterization = test::ntk}, rng),
        TransformerEncoder(
            {.layer = {.dim = width,
                       .heads = 32,
                       .hidden = 256,
                       .attention = {.causal = true,
                                     .form = {.weighting = Weighting::identity},
                                     .positions = AttentionPositions{.encoding = {.grid = {3}}},
                                     .prior = {.parameterization = test::ntk,
                                               .query_key_std = 0.8}},
                       .weight_std = 1.2,
                       .bias_std = 0.3},
             .layers = 1},
            rng),
        Linear({.in = width, .out = 32, .parameterization = test::ntk}, rng));
    net->eval();
    return net;
  };
  const auto x = test::padded();
  test::expect_limit(make, x.a, x.b, test::fewer);
}

// --- biases that begin at zero ---

// Every form, behind a Linear that gives the tangent kernels of its inputs something to hold.
TEST(AttentionBiases, AddClosedTermsToTheTangentKernel) {
  const auto x = test::blocks(2);
  const auto make = [](AttentionForm form, bool biased) {
    return [=](Generator& rng) {
      constexpr std::int64_t width = 48;
      return std::make_unique<Sequential>(Linear({.in = 4, .out = width, .gain = 0.5}, rng),
                                          MultiHeadAttention({.dim = width,
                                                              .heads = 64,
                                                              .head_dim = 24,
                                                              .causal = true,
                                                              .value_head_dim = 4,
                                                              .out = 64,
                                                              .form = form,
                                                              .projection_bias = biased},
                                                             rng));
    };
  };
  using enum Weighting;
  constexpr auto by_root = AttentionScaling::sqrt, by_width = AttentionScaling::linear;
  for (const AttentionForm form :
       {AttentionForm{by_root, softmax, false}, AttentionForm{by_root, identity, false},
        AttentionForm{by_root, relu, false}, AttentionForm{by_width, softmax, false}}) {
    Generator any(1);
    const auto plain = make(form, false)(any), biased = make(form, true)(any);
    const infinite::Kernel k = infinite::limit(*plain)(x.a, x.b);
    const infinite::Kernel with = infinite::limit(*biased)(x.a, x.b);
    EXPECT_TRUE(all_equal(k.nngp, with.nngp));
    // Networks of one seed have the same weights, with and without.
    const auto networks = [&](bool has_biases) {
      Generator rng(3);
      return infinite::sample_kernels(make(form, has_biases), x.a, x.b,
                                      {.draws = 100, .kernel = {.channels = 1}}, rng);
    };
    const auto without = networks(false), all = networks(true);
    RunningMoments added;
    for (std::size_t i = 0; i < all.size(); ++i) added.add(all[i].ntk - without[i].ntk);
    const Tensor se = added.standard_error();
    EXPECT_LT(test::largest_z(with.ntk - k.ntk, added.mean(), se), 4);
    EXPECT_GT(test::largest_z(1.5 * (with.ntk - k.ntk), added.mean(), se), 4);
  }
}

}  // namespace
}  // namespace ladon::transformer_test
