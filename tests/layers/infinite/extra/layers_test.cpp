// Infinite-width limits of linear maps, embeddings, normalization and dropout, compared with finite
// networks; and properties of the limits of all layers.

#include "ladon/autograd/graph.h"
#include "ladon/tests/layers/infinite/empirical.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::extra_layers_test {
namespace {

using infinite::Inputs;
using infinite::limit;

constexpr auto ntk = Parameterization::ntk;

Linear dense(std::int64_t in, std::int64_t out, Generator& rng) {
  return Linear({.in = in, .out = out, .parameterization = ntk, .weight_std = 1.3, .bias_std = 0.4},
                rng);
}

struct Data {
  Tensor vectors[2], tokens[2], indices[2], mask;

  Data() {
    Generator rng(31);
    for (int i = 0; i < 2; ++i) {
      vectors[i] = normal({3, 4}, rng, 0, 1, f64);
      tokens[i] = normal({2, 3, 4}, rng, 0, 1, f64);
      indices[i] = randint({2, 3}, rng, 0, 4);
    }
    mask = ones({2, 3}, boolean);
    fill_(at(mask, {1, 2}), 0);
  }
};

// --- linear maps ---

TEST(LinearLimit, AtDepth) {
  const Data data;
  const infinite::NetworkFactory deep = [](Generator& rng) {
    constexpr std::int64_t width = 192;
    const auto relu = [] { return Activation(Nonlinearity::relu); };
    return std::make_unique<Sequential>(dense(4, width, rng), relu(), dense(width, width, rng),
                                        relu(), dense(width, width, rng), relu(),
                                        dense(width, 64, rng));
  };
  test::expect_sharp_limit(deep, data.vectors[0], data.vectors[1], 200);
}

// Four inputs are too few for weights that are not Gaussian: those come second.
infinite::NetworkFactory standard(Init init, double gain) {
  return [=](Generator& rng) {
    const auto map = [&](std::int64_t in, std::int64_t out, Init how) {
      return Linear({.in = in, .out = out, .init = how, .gain = gain}, rng);
    };
    const auto relu = [] { return Activation(Nonlinearity::relu); };
    return std::make_unique<Sequential>(map(4, 128, Init::kaiming_normal), relu(),
                                        map(128, 128, init), relu(), map(128, 64, init));
  };
}

TEST(LinearLimit, InStandardParameterization) {
  const Data data;
  for (const Init init : {Init::kaiming_normal, Init::kaiming_uniform, Init::xavier_uniform,
                          Init::xavier_normal, Init::lecun_normal})
    test::expect_sharp_limit(standard(init, 1.2), data.vectors[0], data.vectors[1]);
}

// Entries of an orthogonal matrix are not independent, but become Gaussian as it grows.
TEST(LinearLimit, OfOrthogonalWeights) {
  const Data data;
  test::expect_sharp_limit(standard(Init::orthogonal, 1.2), data.vectors[0], data.vectors[1]);
}

TEST(LinearLimit, WithoutBias) {
  const Data data;
  test::expect_sharp_limit(
      [](Generator& rng) {
        return std::make_unique<Sequential>(
            Linear({.in = 4, .out = 128, .bias = false, .init = Init::kaiming_normal}, rng),
            Activation(Nonlinearity::erf),
            Linear({.in = 128, .out = 64, .parameterization = ntk}, rng));
      },
      data.vectors[0], data.vectors[1]);
}

TEST(LinearLimit, RefusesConstantWeights) {
  Generator rng(1);
  const Linear layer({.in = 4, .out = 8, .init = Init::ones}, rng);
  test::expect_error([&] { limit(layer)(Data().vectors[0]); }, "no Gaussian limit");
}

// --- tables ---

TEST(EmbeddingLimit, IsOneForEqualIndices) {
  const Data data;
  for (const auto parameterization : {Parameterization::standard, ntk}) {
    const infinite::NetworkFactory make = [=](Generator& rng) {
      return std::make_unique<Sequential>(
          Embedding({.count = 4, .dim = 96, .stddev = 1.4, .parameterization = parameterization},
                    rng),
          Activation(Nonlinearity::relu), dense(96, 64, rng));
    };
    test::expect_sharp_limit(make, data.indices[0], data.indices[1]);
    const auto select_first = [](const Tensor& x) { return contiguous(select(x, 1, 0)); };
    test::expect_sharp_limit(make, select_first(data.indices[0]), select_first(data.indices[1]));
  }
}

TEST(EmbeddingLimit, PaddingIsZero) {
  const Data data;
  const auto padded = [&](const Tensor& index) {
    return Inputs(masked_fill(index + 1, logical_not(data.mask), 0), data.mask);
  };
  const infinite::NetworkFactory every_position = [](Generator& rng) {
    return std::make_unique<Sequential>(Embedding({.count = 5, .dim = 96, .padding_index = 0}, rng),
                                        dense(96, 64, rng));
  };
  const infinite::NetworkFactory make = [](Generator& rng) {
    return std::make_unique<Sequential>(
        Embedding({.count = 5, .dim = 96, .padding_index = 0, .parameterization = ntk}, rng),
        dense(96, 96, rng), Activation(Nonlinearity::relu), MeanPositions(), dense(96, 64, rng));
  };
  test::expect_sharp_limit(make, padded(data.indices[0]), padded(data.indices[1]));
  test::expect_sharp_limit(every_position, padded(data.indices[0]), padded(data.indices[1]));
  Generator rng(1);
  const Embedding table({.count = 5, .dim = 4, .padding_index = 0}, rng);
  Sequential net(table, dense(4, 3, rng));
  test::expect_layerwise(net, padded(data.indices[0]), padded(data.indices[1]));
}

TEST(EmbeddingLimit, TakesIndices) {
  Generator rng(1);
  const Embedding table({.count = 5, .dim = 4}, rng);
  test::expect_error([&] { limit(table)(Data().tokens[0]); }, "the kernel of indices");
}

// --- normalization ---

infinite::NetworkFactory normalized(bool affine) {
  return [=](Generator& rng) {
    constexpr std::int64_t width = 384;
    auto net = std::make_unique<Sequential>(
        dense(4, width, rng), LayerNorm({.dim = width, .eps = 0.1, .affine = affine}));
    // An activation may not follow trained weights.
    if (!affine) net->append(Activation(Nonlinearity::relu));
    net->append(dense(width, 64, rng));
    return net;
  };
}

TEST(LayerNormLimit, NormalizesVariances) {
  const Data data;
  test::expect_sharp_limit(normalized(false), data.vectors[0], data.vectors[1]);
  test::expect_sharp_limit(normalized(true), data.tokens[0], data.tokens[1], 200);
}

TEST(LayerNormLimit, OfOwnWeightAndBias) {
  const Data data;
  const infinite::NetworkFactory last = [](Generator& rng) {
    return std::make_unique<Sequential>(dense(4, 384, rng), LayerNorm({.dim = 384, .eps = 0.1}));
  };
  test::expect_sharp_limit(last, data.tokens[0], data.tokens[1], 300);
  Generator rng(2);
  Sequential net(dense(4, 5, rng), LayerNorm({.dim = 5}), Activation(Nonlinearity::tanh),
                 dense(5, 5, rng), LayerNorm({.dim = 5}));
  test::expect_layerwise(net, data.tokens[0], data.tokens[1]);
}

// Of data it is no limit: the kernel of what the layer makes.
TEST(LayerNormLimit, OfDataIsExact) {
  Generator rng(1);
  const LayerNorm norm({.dim = 6, .affine = false});
  for (const Shape& shape : {Shape{3, 6}, Shape{3, 2, 6}, Shape{3, 2, 2, 6}}) {
    const Tensor x = normal(shape, rng, 2, 1, f64), other = normal(shape, rng, -1, 3, f64);
    for (const auto entries : {infinite::Entries::full, infinite::Entries::diagonal}) {
      const auto k = limit(norm)(x, other, infinite::Get::nngp, entries);
      const auto made = infinite::input_kernel(norm(x), norm(other), {.entries = entries});
      EXPECT_TRUE(all_close(k.nngp, made.nngp, 1e-12, 1e-12));
      EXPECT_TRUE(all_close(k.cov1, made.cov1, 1e-12, 1e-12));
      EXPECT_TRUE(all_close(k.cov2, made.cov2, 1e-12, 1e-12));
    }
  }
}

TEST(LayerNormLimit, OfDataTellsWhereItsMeansLeaveNoDigits) {
  Generator rng(1);
  const LayerNorm norm({.dim = 6, .affine = false});
  const Tensor x = normal({3, 2, 6}, rng, 2, 1, f64);
  test::expect_error([&] { limit(norm)(x + 1e9); }, "[LayerNorm] the channels");
  test::expect_error([&] { limit(norm)(x, x + 1e9); }, "subtract a constant");
  // Contents of masked tokens do not count.
  const Tensor mask = tensor({1, 0, 1, 1, 0, 1}, {3, 2}, boolean);
  const Tensor far = where(unsqueeze(mask, -1), x, scalar(1e9, f64));
  const auto pooled = [&](const Tensor& values) {
    return limit(Sequential(norm, MeanPositions()))(Inputs(values, mask)).nngp;
  };
  EXPECT_TRUE(all_close(pooled(far), pooled(x), 1e-12, 1e-12));
}

TEST(LayerNormLimit, NeedsKnownMeans) {
  Generator rng(1);
  const Sequential net(dense(4, 8, rng), Activation(Nonlinearity::relu), LayerNorm({.dim = 8}));
  test::expect_error([&] { limit(net)(Data().vectors[0]); }, "with a known mean");
  const Sequential mixed(AveragePool({.window = {3}, .stride = {1}, .padding = Padding::same}),
                         LayerNorm({.dim = 4}));
  test::expect_error([&] { limit(mixed)(Data().tokens[0]); }, "with a known mean");
}

// Behind an activation, whose channels have a mean.
TEST(RMSNormLimit, NormalizesPowers) {
  const auto make = [](bool affine) {
    return [affine](Generator& rng) {
      constexpr std::int64_t width = 384;
      return std::make_unique<Sequential>(dense(4, width, rng), Activation(Nonlinearity::relu),
                                          RmsNorm({.dim = width, .eps = 0.1, .affine = affine}),
                                          dense(width, 64, rng));
    };
  };
  const Data data;
  test::expect_sharp_limit(make(false), data.vectors[0], data.vectors[1]);
  test::expect_sharp_limit(make(true), data.tokens[0], data.tokens[1], 200);
}

// LN ∘ RMS is LN; but the means that a table of positions put there are not known behind RMS.
TEST(RMSNormLimit, BeforeALayerNormChangesNothing) {
  Generator rng(1);
  const auto norm = [] { return LayerNorm({.dim = 8, .eps = 0, .affine = false}); };
  const auto power = [] { return RmsNorm({.dim = 8, .eps = 0, .affine = false}); };
  const Tensor x = Data().tokens[0];
  const Sequential plain(dense(4, 8, rng), norm()), both(dense(4, 8, rng), power(), norm());
  EXPECT_TRUE(all_close(limit(both)(x).nngp, limit(plain)(x).nngp, 1e-12, 1e-12));
  const Sequential placed(dense(4, 8, rng), SinusoidalPositions(), power(), norm());
  test::expect_error([&] { limit(placed)(x); }, "with a known mean");
}

// --- dropout ---

/// Both kernels of one input block in training mode, from one pass: every network draws its masks
/// once per input.
struct OnePass {
  Tensor nngp, ntk;

  explicit OnePass(Layer& network, const Tensor& x) {
    network.to(f64);
    const Tensor y = network(x);
    const std::int64_t n = y.size(0), channels = 2;
    const auto parameters = network.parameters();
    ntk = zeros({n, n}, f64);
    for (std::int64_t c = 0; c < channels; ++c) {
      std::vector<Tensor> rows;
      for (std::int64_t i = 0; i < n; ++i) {
        std::vector<Tensor> flat;
        for (const Tensor& g : grad({at(y, {i, c})}, parameters, {.retain_graph = true}))
          flat.push_back(flatten(g));
        rows.push_back(concat(flat, 0));
      }
      const Tensor jacobian = stack(rows);
      ntk = ntk + matmul(jacobian, transpose(jacobian)) / static_cast<double>(channels);
    }
    nngp = matmul(y.detach(), transpose(y.detach())) / static_cast<double>(y.size(-1));
  }
};

TEST(DropoutLimit, OfTrainingMode) {
  const Tensor x = Data().tokens[0];
  const auto make = [](Generator& rng) {
    Sequential net(dense(4, 96, rng), Activation(Nonlinearity::relu), Dropout(0.4, rng),
                   dense(96, 96, rng), Activation(Nonlinearity::relu), MeanPositions(),
                   Dropout(0.2, rng), dense(96, 64, rng));
    return net;
  };
  Generator rng(12);
  std::vector<infinite::EmpiricalKernel> draws;
  for (int i = 0; i < 300; ++i) {
    Sequential net = make(rng);
    const OnePass pass(net, x);
    infinite::EmpiricalKernel k;
    k.nngp = pass.nngp;
    k.ntk = pass.ntk;
    draws.push_back(k);
  }
  const auto estimate = infinite::monte_carlo_kernel(draws);
  Sequential net = make(rng);
  const infinite::Kernel k = limit(net)(x);
  EXPECT_LT(test::largest_z(k.nngp, estimate.nngp, estimate.nngp_se), 4);
  EXPECT_LT(test::largest_z(k.ntk, estimate.ntk, estimate.ntk_se), 4);

  net.eval();
  const infinite::Kernel still = limit(net)(x);
  EXPECT_GT(test::largest_z(still.nngp, estimate.nngp, estimate.nngp_se), 4);
  const Sequential without(dense(4, 8, rng), Activation(Nonlinearity::relu), dense(8, 8, rng),
                           Activation(Nonlinearity::relu), MeanPositions(), dense(8, 4, rng));
  EXPECT_TRUE(all_equal(still.nngp, limit(without)(x).nngp));
}

TEST(DropoutLimit, OfEverything) {
  Generator rng(1);
  const Sequential net(dense(4, 8, rng), Dropout(1, rng));
  EXPECT_TRUE(all_equal(limit(net)(Data().vectors[0]).nngp, zeros({3, 3}, f64)));
}

TEST(ActivationLimit, NeedsGaussianInputs) {
  Generator rng(1);
  const auto relu = Activation(Nonlinearity::relu);
  const Tensor x = Data().tokens[0];
  const auto refused = [&](const Sequential& net) {
    test::expect_error([&] { limit(net)(x); }, "needs Gaussian inputs");
  };
  refused(Sequential(relu));
  refused(Sequential(dense(4, 8, rng), relu, relu));
  refused(Sequential(dense(4, 8, rng), LayerNorm({.dim = 8}), relu));
  refused(Sequential(dense(4, 8, rng), Flatten(), relu));
  refused(Sequential(dense(4, 8, rng), Dropout(0.1, rng), relu));
  refused(Sequential(ConcatenateBranches({4, 8}, Identity(), dense(4, 8, rng)), relu));
  refused(Sequential(MultiplyBranches(dense(4, 8, rng), dense(4, 8, rng)), relu));
}

}  // namespace
}  // namespace ladon::extra_layers_test
