// Properties of the limit of every layer: the kernel of a pair of inputs does not depend, in any
// bit, on other inputs in the block, and no kernel becomes NaN.

#include "ladon/autograd/functional.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"

namespace ladon::every_layer_test {
namespace {

using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;

Linear dense(std::int64_t in, std::int64_t out, Generator& rng) {
  return Linear({.in = in,
                 .out = out,
                 .parameterization = Parameterization::ntk,
                 .weight_std = 1.3,
                 .bias_std = 0.3},
                rng);
}

ConvOptions filter(std::int64_t in, Shape window, Padding padding, Shape stride = {}) {
  return {.in = in,
          .out = 8,
          .window = window,
          .stride = stride,
          .padding = padding,
          .parameterization = Parameterization::ntk,
          .bias_std = 0.2};
}

Activation relu() { return Activation(Nonlinearity::relu); }
LayerNorm norm() { return LayerNorm({.dim = 8}); }

using Networks = std::vector<std::unique_ptr<Layer>>;
template <class... L>
void add(Networks& all, L... layers) {
  all.push_back(std::make_unique<Sequential>(std::move(layers)...));
}

/// Networks whose limits together use every layer; these for vectors [N, 3].
Networks of_vectors() {
  Generator rng(1);
  Networks all;
  add(all, dense(3, 8, rng), relu(), dense(8, 8, rng), norm());
  add(all, dense(3, 8, rng), SumBranches(Identity(), Sequential(norm(), dense(8, 8, rng))));
  add(all, dense(3, 8, rng), Residual(0.3, Sequential(relu(), dense(8, 8, rng))));
  add(all, dense(3, 8, rng), relu(), LowRank(dense(8, 8, rng), {.rank = 2}, rng), norm());
  add(all, dense(3, 8, rng), relu(), Dropout(0.3, rng),
      ConcatenateBranches({8, 8}, Identity(), Identity()),
      MultiplyBranches(dense(16, 8, rng),
                       Sequential(dense(16, 8, rng), Activation(Nonlinearity::erf))));
  add(all, dense(3, 8, rng), Polynomial::hermite(2), dense(8, 8, rng), norm(), dense(8, 8, rng),
      Elementwise([](const Tensor& x) { return sin(x); }), dense(8, 8, rng));
  all.push_back(std::make_unique<Linear>(LinearOptions{.in = 3, .out = 8}, rng));
  return all;
}

/// For sequences [N, 4, 3], with or without a mask.
Networks of_sequences() {
  Generator rng(1);
  Networks all;
  add(all, Conv1d(filter(3, {3}, Padding::same), rng), relu(), MeanPositions());
  add(all, Conv1d(filter(3, {2}, Padding::circular), rng), norm(), SumPositions());
  add(all, dense(3, 8, rng), AveragePool({.window = {3}, .stride = {1}, .padding = Padding::same}));
  add(all, dense(3, 8, rng), relu(), Flatten(), dense(32, 8, rng));
  add(all, dense(3, 8, rng), relu(), Dropout(0.3, rng), dense(8, 8, rng));
  add(all, LearnedPositions({.max_length = 6, .dim = 3}, rng), dense(3, 8, rng), relu(),
      RandomPositions({.grid = {4}, .in = 8}, rng), dense(8, 8, rng), FirstToken());
  add(all, dense(3, 8, rng), RmsNorm({.dim = 8}),
      MultiHeadAttention({.dim = 8,
                          .heads = 2,
                          .form = {.weighting = Weighting::identity},
                          .prior = {.parameterization = Parameterization::ntk}},
                         rng),
      relu(), MeanPositions());
  add(all, dense(3, 8, rng),
      TransformerEncoder(
          {.layer = {.dim = 8,
                     .heads = 2,
                     .dropout = 0,
                     .activation = Nonlinearity::relu,
                     .attention = {.form = {.weighting = Weighting::identity},
                                   .prior = {.parameterization = Parameterization::ntk}}},
           .layers = 1},
          rng),
      MeanPositions(), dense(8, 8, rng));
  for (const NormPlacement norm : {NormPlacement::pre, NormPlacement::post})
    add(all, dense(3, 8, rng),
        TransformerEncoderLayer(
            {.dim = 8,
             .heads = 2,
             .dropout = 0,
             .norm_placement = norm,
             .attention = {.form = {.weighting = Weighting::identity},
                           .positions = AttentionPositions{.encoding = {.grid = {4}}},
                           .prior = {.parameterization = Parameterization::ntk,
                                     .query_key_std = 1.2,
                                     .bias_std = 0.1}},
             .bias_std = 0.2},
            rng),
        MeanPositions(), dense(8, 8, rng));
  // shared keys, a gate and norms by power
  add(all, dense(3, 8, rng),
      TransformerEncoderLayer({.dim = 8,
                               .heads = 4,
                               .dropout = 0,
                               .activation = Nonlinearity::relu,
                               .attention = {.kv_heads = 2,
                                             .form = {.weighting = Weighting::identity},
                                             .prior = {.parameterization = Parameterization::ntk}},
                               .normalization = Normalization::rms,
                               .gated = true},
                              rng),
      MeanPositions(), dense(8, 8, rng));
  return all;
}

/// For images [N, 4, 3, 2].
Networks of_images() {
  Generator rng(1);
  Networks all;
  add(all, Conv2d(filter(2, {3, 3}, Padding::same), rng), relu(),
      Conv2d(filter(8, {2, 2}, Padding::valid, {2, 1}), rng), MeanPositions());
  add(all, Conv2d(filter(2, {2, 3}, Padding::circular), rng), AveragePool({.window = {2, 1}}));
  add(all, FlattenPositions(), Conv1d(filter(2, {5}, Padding::same, {3}), rng));
  add(all, dense(2, 8, rng), AdaptiveAveragePool({2, 2}), Flatten(), dense(32, 8, rng));
  add(all, Conv2d(filter(2, {3, 3}, Padding::same), rng), relu(),
      Conv2d(filter(8, {2, 3}, Padding::circular, {2, 1}), rng),
      SumBranches(Identity(), Sequential(norm(), dense(8, 8, rng), relu(), dense(8, 8, rng))),
      Flatten(), dense(48, 8, rng));
  add(all, ConvTranspose2d({.in = 2, .out = 8, .window = {2, 3}, .stride = {1, 2}}, rng), relu(),
      FlattenPositions(),  // 4 × 3 → 5 × 7
      ConvTranspose1d({.in = 8, .out = 8, .window = {3}, .before = {1}, .dilation = {2}}, rng),
      MeanPositions());
  return all;
}

/// For indices [N, 4].
Networks of_indices() {
  Generator rng(1);
  Networks all;
  add(all, Embedding({.count = 5, .dim = 8}, rng), relu(), MeanPositions());
  add(all, Embedding({.count = 5, .dim = 8, .padding_index = 0}, rng), norm(), dense(8, 8, rng));
  add(all, Embedding({.count = 5, .dim = 8}, rng), SinusoidalPositions(), dense(8, 8, rng), relu(),
      Flatten(), dense(32, 8, rng));
  return all;
}

Tensor random_mask(std::int64_t n, std::int64_t positions) {
  Generator rng(8);
  const Tensor mask = bernoulli({n, positions}, rng, 0.7);
  fill_(select(mask, 1, 0), 1);  // FirstToken refuses padding in front
  return mask;
}

struct Case {
  Networks networks;
  Inputs a, b;
  std::int64_t unit;  // blocks begin at multiples of it
};

std::vector<Case> cases() {
  Generator rng(5);
  const auto draw = [&](const Shape& shape) { return normal(shape, rng, 0, 1, f64); };
  std::vector<Case> all;
  all.push_back({of_vectors(), draw({150, 3}), draw({70, 3}), infinite::vector_unit});
  all.push_back({of_sequences(), draw({5, 4, 3}), draw({3, 4, 3}), 1});
  all.push_back({of_sequences(), Inputs(draw({5, 4, 3}), random_mask(5, 4)),
                 Inputs(draw({3, 4, 3}), random_mask(3, 4)), 1});
  all.push_back({of_images(), draw({4, 4, 3, 2}), draw({3, 4, 3, 2}), 1});
  all.push_back({of_indices(), randint({5, 4}, rng, 0, 5), randint({3, 4}, rng, 0, 5), 1});
  return all;
}

void expect_same(const Kernel& whole, const Kernel& tile, std::int64_t i, std::int64_t j) {
  const auto part = [](const Tensor& x, int axis, std::int64_t begin, std::int64_t size) {
    return slice(x, axis, {.start = begin, .stop = begin + size});
  };
  const std::int64_t n = tile.nngp.size(0), m = tile.nngp.size(1);
  EXPECT_TRUE(all_equal(part(part(whole.nngp, 0, i, n), 1, j, m), tile.nngp));
  EXPECT_TRUE(all_equal(part(part(whole.ntk, 0, i, n), 1, j, m), tile.ntk));
  EXPECT_TRUE(all_equal(part(whole.cov1, 0, i, n), tile.cov1));
  EXPECT_TRUE(all_equal(part(whole.cov2, 0, j, m), tile.cov2));
}

TEST(EveryLimit, IsTheSameInAnyTiles) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      const Kernel whole = limit(*network)(c.a, c.b);
      for (std::int64_t i = 0; i < c.a.count(); i += c.unit)
        for (std::int64_t j = 0; j < c.b.count(); j += c.unit)
          expect_same(whole,
                      limit(*network)(c.a.rows(i, std::min(i + c.unit, c.a.count())),
                                      c.b.rows(j, std::min(j + c.unit, c.b.count()))),
                      i, j);
    }
}

// Each position with the same of the other input: computed alone, or out of all pairs.
TEST(EveryLimit, HasTheSameDiagonalWhetherOrNotTheRestIsComputed) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      const Kernel full = limit(*network)(c.a, c.b),
                   own = limit(*network)(c.a, c.b, infinite::Get::ntk, infinite::Entries::diagonal);
      expect_same(full.diagonal(), own, 0, 0);
      // Without its needs the network gets all pairs of positions.
      const Kernel inputs = infinite::input_kernel(c.a, c.b);
      expect_same(full, limit(*network)(inputs), 0, 0);
    }
}

// The record of one pass over inputs, in two blocks, serves passes over pairs.
TEST(EveryLimit, TakesWhatIsKnownOfSingleInputs) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      const Kernel whole = limit(*network)(c.a, c.b);
      const infinite::Limit by = limit(*network);
      const infinite::Passes passes(by, by.graph(infinite::kind_of(c.a, c.b)), {},
                                    infinite::Entries::full);
      const auto record = [&](const Inputs& in) {
        infinite::Selves selves;
        const std::int64_t n = in.count(), half = std::min(n, c.unit);
        const Kernel k = passes.record(in, 0, half, n, selves);
        EXPECT_FALSE(k.nngp.defined() || k.cov2.defined());
        if (half < n) passes.record(in, half, n, n, selves);
        EXPECT_GT(selves.size(), 1u);
        return selves;
      };
      const infinite::Selves of_a = record(c.a), of_b = record(c.b);
      const Kernel k = passes.pairs({c.a, of_a, 0, c.a.count()}, {c.b, of_b, 0, c.b.count()});
      expect_same(whole, k, 0, 0);
    }
}

TEST(EveryLimit, IsTheSameAtAnyNumberOfThreads) {
  const int before = num_threads();
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      set_num_threads(1);
      const Kernel alone = limit(*network)(c.a, c.b);
      set_num_threads(3);
      expect_same(alone, limit(*network)(c.a, c.b), 0, 0);
      set_num_threads(before);
    }
}

// A block with itself: symmetric, and its diagonal is what each input has with itself. Dropout, in
// training mode here, knows the pairs that are the same.
TEST(EveryLimit, OfABlockWithItselfHasItsCovariancesOnTheDiagonal) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      const Kernel k = limit(*network)(c.a);
      for (std::int64_t i = 0; i < c.a.count(); ++i)
        EXPECT_TRUE(all_close(at(k.nngp, {i, i}), at(k.cov1, {i}), 1e-14, 1e-15));
      Tensor swapped = transpose(k.ntk, 0, 1);
      if (k.has_positions()) swapped = transpose(swapped, 2, 3);
      EXPECT_TRUE(all_close(k.ntk, swapped, 1e-12, 1e-12));
    }
}

// Zero inputs, equal inputs, and sequences without a token.
TEST(EveryLimit, OfDegenerateInputsIsFinite) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      SCOPED_TRACE(network->summary());
      for (const bool with_zeros : {true, false}) {
        Inputs in = {clone(c.a.x), c.a.mask.defined() ? clone(c.a.mask) : Tensor()};
        copy_(at(in.x, {1}), at(c.a.x, {0}));
        if (with_zeros) fill_(at(in.x, {0}), 0);
        if (in.mask.defined()) fill_(at(in.mask, {0}), 0);
        const Kernel k = limit(*network)(in);
        for (const Tensor& x : {k.nngp, k.ntk, k.cov1, k.cov2})
          EXPECT_TRUE(all(isfinite(x)).item<bool>());
      }
    }
}

/// Both kernels as one list of numbers, for gradcheck.
Tensor both(const Kernel& k) { return concat({flatten(k.nngp), flatten(k.ntk)}, 0); }

// By the inputs, which are no two the same; masked ones do not count.
TEST(EveryLimit, IsDifferentiableByInputs) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      if (c.a.x.dtype() == i64) continue;
      SCOPED_TRACE(network->summary());
      const Inputs a = c.a.rows(0, 2), b = c.b.rows(0, 1);
      const auto kernels = [&](const std::vector<Tensor>& x) {
        return both(limit(*network)(Inputs(x[0], a.mask), Inputs(x[1], b.mask)));
      };
      EXPECT_TRUE(
          gradcheck(kernels, {clone(a.x).set_requires_grad(), clone(b.x).set_requires_grad()}));
    }
}

// By every hyper-parameter of every network; without masks, whose zeros are a kink of relu.
TEST(EveryLimit, IsDifferentiableByHyperParameters) {
  for (const Case& c : cases())
    for (const auto& network : c.networks) {
      const auto named = network->hyperparameters();
      if (named.empty() || c.a.mask.defined()) continue;
      SCOPED_TRACE(network->summary());
      std::vector<Tensor> values;
      for (const auto& [path, value] : named) values.push_back(clone(value).set_requires_grad());
      const auto kernels = [&](const std::vector<Tensor>& at) {
        for (std::size_t i = 0; i < at.size(); ++i)
          network->set_hyperparameter(named[i].first, at[i]);
        return both(limit(*network)(c.a.rows(0, 2), c.b.rows(0, 1)));
      };
      EXPECT_TRUE(gradcheck(kernels, values));
    }
}

TEST(EveryLimit, WithoutTokensIsZeroAfterPooling) {
  Generator rng(1);
  const Inputs in(normal({2, 4, 3}, rng, 0, 1, f64),
                  cast(tensor({1, 1, 1, 1, 0, 0, 0, 0}, {2, 4}), boolean));
  const auto expect_zeros = [&](const Layer& net) {
    const Kernel k = limit(net)(in);
    EXPECT_TRUE(all_equal(at(k.nngp, {1}), zeros({2}, f64)));
    EXPECT_TRUE(all_equal(at(k.ntk, {1}), zeros({2}, f64)));
    const Tensor y = net(cast(in.x, f32), in.mask);
    EXPECT_TRUE(all_equal(at(y, {1}), zeros({y.size(-1)})));
  };
  expect_zeros(Sequential(dense(3, 8, rng), MeanPositions()));
  expect_zeros(Sequential(dense(3, 8, rng), SumPositions()));
  expect_zeros(Sequential(dense(3, 8, rng), Flatten()));
}

}  // namespace
}  // namespace ladon::every_layer_test
