// Models of random layers: all ways to compute their kernels give equal kernels.

#include <random>

#include "ladon/autograd/graph.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/layers/infinite/gram/backward.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"

namespace ladon::random_models_test {
namespace {

using infinite::Entries;
using infinite::Get;
using infinite::Inputs;
using infinite::limit;

constexpr std::int64_t channels = 4, tokens = 3;

/// Draws layers of `channels` channels, most of which fit where they stand.
class Models {
 public:
  explicit Models(std::uint64_t seed) : random_(seed), rng_(seed) {}

  /// On sequences; a third ends with positions.
  Sequential model() {
    Sequential net;
    append(net, 1 + below(4), 0);
    if (below(3) > 0) {
      net.append(pooling());
      append(net, below(3), 2);  // of vectors: no branches of what needs positions
    }
    return net;
  }
  bool flip() { return below(2) == 0; }

 private:
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

  void append(Sequential& net, std::int64_t count, int depth) {
    for (std::int64_t i = 0; i < count; ++i) net.append(layer(depth));
  }

  Owned<Layer> pooling() {
    switch (below(4)) {
      case 0:
        return MeanPositions();
      case 1:
        return FirstToken();
      case 2:
        return SumPositions();
      default:
        return Sequential(Flatten(), dense(channels * tokens));
    }
  }

  Linear dense(std::int64_t in = channels) {
    const bool ntk = below(4) > 0;
    LinearOptions options{.in = in, .out = channels};
    if (ntk) {
      options.parameterization = Parameterization::ntk;
      options.weight_std = 1.2;
      options.bias_std = flip() ? 0.3 : 0.0;
    }
    return Linear(options, rng_);
  }

  MultiHeadAttention attention() {
    MultiHeadAttentionOptions options{.dim = channels, .heads = 2, .causal = flip()};
    options.limit_draws = {.samples = 4};
    options.prior.parameterization = flip() ? Parameterization::ntk : Parameterization::standard;
    options.form.weighting = flip() ? Weighting::softmax : static_cast<Weighting>(below(4));
    if (flip()) options.form = {AttentionScaling::linear, options.form.weighting, flip()};
    if (options.causal && below(3) == 0) options.window = 2;
    return MultiHeadAttention(options, rng_);
  }

  Owned<Layer> branch(int depth) {
    Sequential net;
    append(net, 1 + below(2), depth + 1);
    if (below(4) > 0) net.append(dense());
    return net;
  }

  Owned<Layer> layer(int depth) {
    switch (below(depth == 0 ? 13 : depth == 1 ? 9 : 7)) {
      case 0:
      case 1:
        return dense();
      case 2:
      case 3:
        return Activation(flip() ? Nonlinearity::relu : Nonlinearity::erf);
      case 4:
        return LayerNorm({.dim = channels, .affine = flip()});
      case 5:
        return RmsNorm({.dim = channels});
      case 6:
        return Dropout(0.2, rng_);
      case 7:
      case 8:
        return attention();
      case 9: {
        SumBranches sum;
        sum.append(Identity());
        sum.append(branch(depth));
        return sum;
      }
      case 10: {
        MultiplyBranches product;
        product.append(branch(depth));
        product.append(branch(depth));
        return product;
      }
      case 11:
        return Residual(0.3, branch(depth));
      default:
        return Sequential(
            RandomPositions({.grid = {tokens}, .in = channels}, rng_),
            flip() ? Owned<Layer>(Conv1d({.in = channels, .out = channels, .window = {2}}, rng_))
                   : Owned<Layer>(attention()));
    }
  }

  std::mt19937_64 random_;
  Generator rng_;
};

void expect_close(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.defined(), b.defined()) << what;
  if (!a.defined()) return;
  const double scale = std::max(1e-300, amax(abs(b)).item());
  EXPECT_LT(amax(abs(a - b)).item(), 1e-10 * scale) << what;
}

/// Mean over replicates of what limit() gives.
infinite::Kernel mean_of(const infinite::Limit& by, const Inputs& x, int replicates) {
  infinite::Kernel sum = by(x);
  for (int r = 1; r < replicates; ++r) {
    const auto k = by.with_replicate(static_cast<std::uint64_t>(r))(x);
    sum.nngp = sum.nngp + k.nngp;
    sum.ntk = sum.ntk + k.ntk;
  }
  sum.nngp = sum.nngp / replicates;
  sum.ntk = sum.ntk / replicates;
  return sum;
}

/// Gradients by the inputs and all hyper-parameters.
std::vector<Tensor> gradients(const std::vector<Tensor>& leaves) {
  std::vector<Tensor> all;
  for (Tensor leaf : leaves) {
    all.push_back(leaf.grad().defined() ? clone(leaf.grad()) : zeros_like(leaf.detach()));
    leaf.set_grad(Tensor());
  }
  return all;
}

/// With finitely many heads: given what is random of them, kernels are the same in any layout, and
/// those of the limit where nothing is. Returns whether the model gives such kernels.
bool expect_finite_heads(const Sequential& net, const Inputs& x, const infinite::Kernel& of_limit) {
  const infinite::FiniteHeads heads = infinite::finite_heads(net, {.heads = 2});
  Generator rng(3), again(3);
  infinite::Latents z;
  try {
    z = heads.draw(x, rng);
  } catch (const Error&) {
    return false;
  }
  const infinite::Kernel whole = heads.kernel(x, z, Get::ntk);
  expect_close(heads.kernel(x, z).nngp, whole.nngp, "finite heads without NTK");
  const infinite::Kernel narrow = heads.kernel(x, z, Get::ntk, Entries::diagonal);
  expect_close(narrow.nngp, whole.diagonal().nngp, "finite heads, positions with themselves, NNGP");
  expect_close(narrow.ntk, whole.diagonal().ntk, "finite heads, positions with themselves, NTK");
  heads.for_each(x, 1, again, Get::ntk, [&](const infinite::Kernel& first) {
    expect_close(first.nngp, whole.nngp, "finite heads drawn one after the other");
  });
  if (z.empty()) expect_close(whole.nngp, of_limit.nngp, "heads that are all alike");
  return true;
}

/// Returns whether the model also gives kernels of finitely many heads.
bool expect_agreement(Sequential& net, const Inputs& x) {
  const auto by = limit(net).with_landmarks(x);
  const bool drawn = by.draws(infinite::kind_of(x));
  constexpr int replicates = 2;
  const infinite::Kernel k = mean_of(by, x, drawn ? replicates : 1);
  for (const std::int64_t tile : {1, 2}) {
    const infinite::Gram g = gram(by, x, {.tile = tile, .replicates = replicates});
    expect_close(g.nngp, k.nngp, "gram, NNGP");
    expect_close(g.ntk, k.ntk, "gram, NTK");
  }
  const infinite::Gram own = infinite::gram_diagonal(by, x, {.replicates = replicates});
  for (std::int64_t n = 0; n < x.count(); ++n) {
    expect_close(select(own.nngp, 0, n), at(k.nngp, {n, n}), "diagonal, NNGP");
    expect_close(select(own.ntk, 0, n), at(k.ntk, {n, n}), "diagonal, NTK");
  }
  const infinite::Kernel narrow = by(x, Get::ntk, Entries::diagonal), whole = by(x);
  expect_close(narrow.nngp, whole.diagonal().nngp, "positions with themselves, NNGP");
  expect_close(narrow.ntk, whole.diagonal().ntk, "positions with themselves, NTK");
  expect_close(by(x, Get::nngp).nngp, whole.nngp, "without NTK");
  expect_close(by(x, x).cov1, whole.cov1, "two blocks");
  const bool heads = expect_finite_heads(net, x, whole);
  if (whole.has_positions()) return heads;

  std::vector<Tensor> leaves;
  for (const auto& [path, value] : net.hyperparameters()) {
    net.set_hyperparameter(path, clone(value).detach().set_requires_grad());
    leaves.push_back(net.hyperparameters()[leaves.size()].second);
  }
  const Inputs inputs(clone(x.x).set_requires_grad(), x.mask);
  leaves.push_back(inputs.x);
  const Tensor c = test::draw({x.count(), x.count()}, 9), cotangent = c + transpose(c);
  const auto of_leaf = [&] { return limit(net).with_landmarks(inputs); };  // recorded anew
  infinite::backward_gram(of_leaf(), inputs, cotangent, 0.1 * cotangent,
                          {.tile = 2, .replicates = replicates});
  const std::vector<Tensor> in_tiles = gradients(leaves);
  const infinite::Kernel recorded = mean_of(of_leaf(), inputs, drawn ? replicates : 1);
  backward(sum(cotangent * (recorded.nngp + 0.1 * recorded.ntk)));
  const std::vector<Tensor> at_once = gradients(leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    // Near tokens of correlation ±1 gradients of rectifiers are ill-conditioned.
    EXPECT_LT(amax(abs(in_tiles[i] - at_once[i])).item(), 1e-6 * (1 + amax(abs(at_once[i])).item()))
        << "gradient " << i << " of " << leaves.size();
  return heads;
}

TEST(RandomModels, HaveTheSameKernelsHoweverTheyAreComputed) {
  int known = 0, drawn = 0, refused = 0, with_heads = 0;
  for (std::uint64_t seed = 1; known < 500; ++seed) {
    Models models(seed);
    Sequential net = models.model();
    if (models.flip()) net.eval();
    Inputs x(test::draw({3, tokens, channels}, seed));
    if (seed % 3 == 0) x.mask = cast(tensor({1, 1, 1, 1, 1, 0, 1, 1, 1}, {3, 3}), boolean);
    std::shared_ptr<const infinite::KernelGraph> graph;
    try {
      graph = limit(net).graph(infinite::kind_of(x));
    } catch (const Error&) {
      // Whatever way it is asked for, it is refused.
      EXPECT_THROW(limit(net)(x), Error);
      EXPECT_THROW(gram(limit(net), x), Error);
      EXPECT_THROW(infinite::gram_diagonal(limit(net), x), Error);
      ++refused;
      continue;
    }
    SCOPED_TRACE(detail::join("seed ", seed, "\n", net.summary()));
    with_heads += expect_agreement(net, x);
    ++known;
    drawn += graph->draws();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(drawn, 50);
  EXPECT_GT(refused, 100);
  EXPECT_GT(with_heads, 250);
}

}  // namespace
}  // namespace ladon::random_models_test
