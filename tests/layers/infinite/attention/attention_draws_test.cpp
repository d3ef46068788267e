// Softmax attention with square-root scaling, whose limit is estimated by an average over random
// draws that all inputs share.

#include <atomic>
#include <cmath>
#include <cstring>

#include "ladon/autograd/running_moments.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/attention/logits.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"
#include "ladon/layers/infinite/kernel/roots.h"
#include "ladon/tests/layers/infinite/attention/attention_networks.h"
#include "ladon/tests/support.h"

namespace ladon::attention_draws_test {
namespace {

using infinite::Gram;
using infinite::gram;
using infinite::Inputs;
using infinite::Kernel;
using infinite::limit;
using test::blocks;
using test::Blocks;
using test::sqrt_untied;

MultiHeadAttention layer_of(MultiHeadAttentionOptions options) {
  Generator rng(2);
  return MultiHeadAttention(options, rng);
}

MultiHeadAttentionOptions drawn(std::int64_t samples) {
  MultiHeadAttentionOptions options = sqrt_untied(Weighting::softmax);
  options.limit_draws.samples = samples;
  return options;
}

/// [Linear – relu – attention – relu – pool – Linear]: the attention sees tangent kernels that are
/// not zero, and tokens of more dimensions than channels.
Sequential deep_net(const MultiHeadAttentionOptions& options) {
  Generator rng(2);
  MultiHeadAttentionOptions inner = options;
  inner.dim = 8;
  const auto dense = [&](std::int64_t in, std::int64_t out) {
    return Linear(
        {.in = in, .out = out, .parameterization = test::ntk, .weight_std = 1.3, .bias_std = 0.2},
        rng);
  };
  const Activation relu(Nonlinearity::relu);
  return Sequential(dense(4, 8), relu, MultiHeadAttention(inner, rng), relu, MeanPositions(),
                    dense(64, 1));
}

// --- against what is computed otherwise ---

// A third token that is masked leaves two, whose moments quadrature knows.
TEST(DrawnAttention, WithTwoVisibleTokensIsTheQuadrature) {
  MultiHeadAttentionOptions options = drawn(1000);
  Blocks x = blocks(3);
  const Blocks two{slice(x.a.x, 1, {.stop = 2}), slice(x.b.x, 1, {.stop = 2})};
  x.a.mask = expand(cast(tensor({1, 1, 0}), boolean), {2, 3});
  x.b.mask = expand(cast(tensor({1, 1, 0}), boolean), {1, 3});
  for (const bool causal : {false, true}) {
    options.causal = causal;
    const MultiHeadAttention layer = layer_of(options);
    const Kernel exact = limit(layer)(two.a, two.b);
    const Gram estimate = gram(limit(layer), x.a, x.b, {.replicates = 30});
    const auto first_two = [](const Tensor& k) {
      return at(k, {all_of, all_of, Slice{.stop = 2}, Slice{.stop = 2}});
    };
    const auto z = [&](const Tensor& k, const Tensor& mean, const Tensor& se) {
      return test::largest_z(k, first_two(mean), first_two(se));
    };
    EXPECT_LT(z(exact.nngp, estimate.nngp, estimate.nngp_se), 4);
    EXPECT_LT(z(exact.ntk, estimate.ntk, estimate.ntk_se), 4);
    EXPECT_GT(z(1.03 * exact.nngp, estimate.nngp, estimate.nngp_se), 4);
  }
}

/// The kernels of one pair by the definition: logits drawn from a root of the pair's own 2T × 2T
/// kernel, softmax and its Jacobian written out, sums over all four positions. QK = 1.2, OV = .9,
/// σ_b = .3.
struct ByDefinition {
  Tensor nngp, ntk, nngp_se, ntk_se;
};
ByDefinition by_definition(const Tensor& x, const Tensor& y, std::int64_t draws) {
  const std::int64_t t = x.size(0), both = 2 * t;
  const Tensor all = concat({x, y}, 0);
  Tensor root = contiguous(matmul(all, transpose(all)) / static_cast<double>(x.size(1)));
  const std::vector<double> k = root.to_vector();
  infinite::factorize(root.mutable_data<double>(), both, k.data());
  const double qk2 = 1.44, ov2 = 0.81, bias2 = 0.09;
  const auto size = static_cast<std::size_t>(t);
  const auto cross = [&](std::size_t a, std::size_t b) { return k[a * 2 * size + size + b]; };
  Generator rng(77);
  RunningMoments nngp, ntk;
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    const Tensor z = normal({both, both}, rng, 0, 1, f64);
    const Tensor g = std::sqrt(qk2) * matmul(matmul(root, z), transpose(root));
    const auto corner = [&](std::int64_t i) {
      const Slice range{.start = i, .stop = i + t};
      return softmax(slice(slice(g, 0, range), 1, range), -1).to_vector();
    };
    const std::vector<double> p = corner(0), q = corner(t);
    Tensor s = zeros({t, t}, f64), theta = zeros({t, t}, f64);
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b) {
        double value = 0, slope = 0;
        for (std::size_t i = 0; i < size; ++i)
          for (std::size_t j = 0; j < size; ++j) {
            value += cross(i, j) * p[a * size + i] * q[b * size + j];
            for (std::size_t c = 0; c < size; ++c)
              for (std::size_t e = 0; e < size; ++e)
                slope += cross(i, j) * p[a * size + i] * ((i == c) - p[a * size + c]) *
                         q[b * size + j] * ((j == e) - q[b * size + e]) * 2 * cross(a, b) *
                         cross(c, e);
          }
        s.mutable_data<double>()[a * size + b] = ov2 * value + bias2;
        theta.mutable_data<double>()[a * size + b] = ov2 * (2 * value + qk2 * slope) + bias2;
      }
    nngp.add(s);
    ntk.add(theta);
  }
  return {nngp.mean(), ntk.mean(), nngp.standard_error(), ntk.standard_error()};
}

TEST(DrawnAttention, IsTheDefinitionAtThreeAndFourTokens) {
  for (const std::int64_t t : {3, 4}) {
    const Blocks x = blocks(t);
    const Gram g = gram(limit(layer_of(drawn(400))), x.a, x.b, {.replicates = 20});
    for (const std::int64_t n : {0, 1}) {
      const ByDefinition other = by_definition(at(x.a.x, {n}), at(x.b.x, {0}), 6000);
      const auto z = [&](const Tensor& mine, const Tensor& my_se, const Tensor& k,
                         const Tensor& se) {
        const Tensor error = sqrt(square(at(my_se, {n, 0})) + square(se));
        return test::largest_z(k, at(mine, {n, 0}), error);
      };
      EXPECT_LT(z(g.nngp, g.nngp_se, other.nngp, other.nngp_se), 4.5);
      EXPECT_LT(z(g.ntk, g.ntk_se, other.ntk, other.ntk_se), 4.5);
      EXPECT_GT(z(g.ntk, g.ntk_se, 1.1 * other.ntk, other.ntk_se), 4.5);
    }
  }
}

// --- the numbers ---

// Every matrix is standard normal by itself, and orthogonal to the others of its group of R².
// Trained biases count in the loops over pairs as in the composed operations, which recorded inputs
// take.
TEST(DrawnAttention, WithTrainedBiasesIsTheDefinition) {
  for (const bool causal : {false, true}) {
    const MultiHeadAttention layer =
        layer_of({.dim = 4, .heads = 2, .causal = causal, .limit_draws = {.samples = 6}});
    ASSERT_TRUE(layer.query_bias.defined() && layer.key_bias.defined());
    const Tensor x = blocks(4).a.x, recorded = clone(x).set_requires_grad();
    const Kernel fast = limit(layer)(x), composed = limit(layer)(recorded);
    EXPECT_TRUE(composed.ntk.requires_grad());
    EXPECT_TRUE(all_close(fast.ntk, composed.ntk.detach(), 1e-12, 1e-12));
  }
}

TEST(SharedDraws, AreOrthogonalInGroups) {
  constexpr std::int64_t r = 3, size = r * r, draws = 300 * size;
  infinite::SharedDraws shared(Generator(4), r);
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < draws; ++i) all.push_back(flatten(shared[i]));
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      const double product =
          sum(all[static_cast<std::size_t>(i)] * all[static_cast<std::size_t>(j)]).item();
      EXPECT_NEAR(product, 0, 1e-10);
    }
  const Tensor z = stack(all, 0);
  const double n = static_cast<double>(z.count());
  EXPECT_NEAR(mean(z).item(), 0, 4 / std::sqrt(n));
  EXPECT_NEAR(mean(square(z)).item(), 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(mean(square(square(z))).item(), 3, 4 * std::sqrt(96 / n));
  EXPECT_TRUE(all_equal(infinite::SharedDraws(Generator(4), r)[size + 1], shared[size + 1]));
}

TEST(SharedDraws, AreNormalBeyondTheOrthogonalOnes) {
  infinite::SharedDraws shared(Generator(4), 40);
  const Tensor z = stack({shared[0], shared[1], shared[700]}, 0);
  const double n = static_cast<double>(z.count());
  EXPECT_NEAR(mean(square(z)).item(), 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(mean(square(square(z))).item(), 3, 4 * std::sqrt(96 / n));
}

// --- a cache of the draws ---

TEST(KeptDraws, AreThoseThatAreDrawnWithoutACache) {
  for (const std::int64_t rank : {0, 3, 40}) {
    const double bytes = 8.0 * static_cast<double>(rank * rank);
    infinite::KeptDraws kept(20 * bytes);
    infinite::SharedDraws plain(Generator(4), rank), first(Generator(4), rank, &kept),
        second(Generator(4), rank, &kept), other(Generator(5), rank, &kept);
    const std::vector<Tensor> of_first = first.of(0, 30), of_second = second.of(0, 30);
    for (std::int64_t i = 0; i < 30; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_TRUE(all_equal(of_first[at], plain[i])) << rank << ", " << i;
      EXPECT_TRUE(all_equal(of_second[at], plain[i])) << rank << ", " << i;
      EXPECT_EQ(all_equal(other[i], plain[i]), rank == 0);
    }
  }
}

TEST(KeptDraws, KeepNoMoreThanTheyMay) {
  constexpr std::int64_t rank = 20;
  infinite::KeptDraws kept(3 * 8.0 * rank * rank);
  infinite::SharedDraws first(Generator(4), rank, &kept), second(Generator(4), rank, &kept);
  int shared = 0;
  for (std::int64_t i = 0; i < 10; ++i) shared += same_elements(first[i], second[i]) ? 1 : 0;
  EXPECT_EQ(shared, 3);
  kept.allow(5 * 8.0 * rank * rank);
  EXPECT_TRUE(same_elements(first[8], second[8]));
  kept.expect({1, 2, rank}, 7);
  kept.expect({1, 2, rank}, 5);
  kept.expect({1, 3, rank}, 1);
  EXPECT_EQ(kept.expected_bytes(), 8 * 8.0 * rank * rank);
}

TEST(KeptDraws, AreMadeOnceByManyThreads) {
  constexpr std::int64_t rank = 20, draws = 40;
  infinite::KeptDraws kept(1e6);
  std::atomic<int> made = 0;
  const int before = num_threads();
  set_num_threads(16);
  parallel::for_range(64, 1, [&](std::int64_t, std::int64_t) {
    for (std::int64_t i = 0; i < draws; ++i)
      kept.get({1, 2, rank}, i, [&] {
        ++made;
        return full({rank, rank}, static_cast<double>(i), f64);
      });
  });
  set_num_threads(before);
  EXPECT_EQ(made, draws);
}

// Recorded random numbers must be the same in a second run, which a cache would not draw.
TEST(KeptDraws, AreNotUsedWhereDrawsAreRecorded) {
  infinite::KeptDraws kept(1e6);
  const infinite::PassScope scope(kept);
  EXPECT_EQ(infinite::PassScope::kept(), &kept);
  detail::DrawTape tape;
  const detail::RecordDraws recorded(tape);
  EXPECT_EQ(infinite::PassScope::kept(), nullptr);
}

/// Mean over two temperatures of the logits, whose weights differ at the same random numbers.
struct TwoTemperatures : AttentionHook {
  infinite::AttentionMap limit(const infinite::AttentionLimit&) const override {
    return [](const infinite::AttentionLimit& layer, const infinite::Pairs& seen,
              const infinite::Pairs& values) {
      infinite::AttentionLimit hot = layer;
      hot.query_key = 0.3 * layer.query_key;
      const auto one = attention_kernels(layer, seen, values),
                 other = attention_kernels(hot, seen, values);
      infinite::PairKernels y{(one.nngp + other.nngp) / 2, {}};
      if (one.ntk.defined()) y.ntk = (one.ntk + 3 * other.ntk) / 4;
      return y;
    };
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "TwoTemperatures"; }
};

TEST(KeptDraws, ServeEveryWeightingOfALayer) {
  MultiHeadAttentionOptions options = drawn(20);
  options.hook = TwoTemperatures();
  const Sequential net = deep_net(options);
  Generator rng(5);
  const Tensor x = normal({5, 4, 4}, rng, 0, 1, f64);
  const auto by = limit(net).with_landmarks(x);
  const auto estimate = [&](std::uint64_t r) { return by.with_replicate(r)(x).ntk; };
  const Tensor expected = (estimate(0) + estimate(1)) / 2;
  const Gram whole = gram(by, x, {.replicates = 2});
  EXPECT_TRUE(all_close(whole.ntk, expected, 1e-13, 0));
  for (const std::int64_t tile : {1, 2})
    EXPECT_TRUE(all_equal(gram(by, x, {.tile = tile, .replicates = 2}).ntk, whole.ntk));
}

// --- one process for all inputs ---

TEST(DrawnAttention, GramIsPositiveSemiDefinite) {
  Generator rng(5);
  const Inputs x{normal({40, 5, 4}, rng, 0, 1, f64), bernoulli({40, 5}, rng, 0.8)};
  for (const std::int64_t coordinates : {128, 3}) {  // 3: most is drawn by each input for itself
    MultiHeadAttentionOptions options = drawn(8);
    options.limit_draws.coordinates = coordinates;
    const Sequential net = deep_net(options);
    const Gram g = gram(limit(net), x, {.replicates = 2});
    for (const Tensor& k : {g.nngp, g.ntk}) {
      const double mean_diagonal = mean(diagonal(k)).item();
      EXPECT_GT(lapack::eigenvalues(k).to_vector()[0], -1e-12 * mean_diagonal);
    }
  }
}

TEST(DrawnAttention, EqualInputsHaveEqualRows) {
  Generator rng(5);
  Tensor x = normal({6, 4, 4}, rng, 0, 1, f64);
  copy_(at(x, {5}), at(x, {1}));
  MultiHeadAttentionOptions options = drawn(20);
  for (const std::int64_t coordinates : {128, 2}) {
    options.limit_draws.coordinates = coordinates;
    const Gram g = gram(limit(deep_net(options)), x, {.replicates = 2});
    EXPECT_TRUE(all_close(at(g.nngp, {5}), at(g.nngp, {1}), 1e-12, 0));
    EXPECT_TRUE(all_close(at(g.nngp, {5, 5}), at(g.nngp, {1, 1}), 1e-12, 0));
  }
}

TEST(DrawnAttention, DoesNotDependOnTilesThreadsAndBlocks) {
  Generator rng(5);
  const Inputs x{normal({7, 4, 4}, rng, 0, 1, f64), bernoulli({7, 4}, rng, 0.8)};
  MultiHeadAttentionOptions options = drawn(20);
  options.limit_draws.coordinates = 6;
  const Sequential net = deep_net(options);
  const auto by = limit(net).with_landmarks(x);
  const auto run = [&](std::int64_t tile) {
    return gram(by, x, x, {.tile = tile, .replicates = 2});
  };
  const auto above = [&](std::int64_t tile, std::uint64_t budget = 0) {
    const Gram g = gram(by, x, {.tile = tile, .memory_budget = budget, .replicates = 2});
    return concat({triu(g.nngp), triu(g.ntk), triu(g.nngp_se), triu(g.ntk_se)}, 0);
  };
  const Gram whole = run(100);
  const Tensor of_whole =
      concat({triu(whole.nngp), triu(whole.ntk), triu(whole.nngp_se), triu(whole.ntk_se)}, 0);
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 16}) {
    set_num_threads(threads);
    for (const std::int64_t tile : {0, 1, 2, 5}) {
      EXPECT_TRUE(all_equal(run(tile).ntk, whole.ntk)) << tile;
      EXPECT_TRUE(all_equal(run(tile).nngp_se, whole.nngp_se)) << tile;
      EXPECT_TRUE(all_equal(above(tile), of_whole)) << tile << ", " << threads << " threads";
    }
  }
  // The least budget has room for few of the random matrices that tiles share. It is found by trial
  // because the memory of a pair is measured, and differs a little from one call to the next.
  set_num_threads(1);
  const std::uint64_t draws = 2 * 10 * 6 * 6 * 8;  // bytes of two replicates
  const auto fits = [&](std::uint64_t budget) {
    try {
      EXPECT_TRUE(all_equal(above(1, budget), of_whole));
      return true;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("the memory budget is"), std::string::npos);
      return false;
    }
  };
  const auto least = infinite::estimate_gram(by, x, {.tile = 1, .replicates = 2});
  std::uint64_t budget = least.bytes() - draws / 2;
  while (budget < 2 * least.bytes() && !fits(budget)) budget += draws / 4;
  EXPECT_LT(budget, 2 * least.bytes());
  set_num_threads(before);
  const Gram part = gram(by, x.rows(2, 5), x.rows(1, 3), {.replicates = 2});
  EXPECT_TRUE(all_equal(
      part.ntk, slice(slice(whole.ntk, 0, {.start = 2, .stop = 5}), 1, {.start = 1, .stop = 3})));
  // One estimate of the average, as limit() gives it.
  const Kernel first = by(x), second = by.with_replicate(1)(x);
  EXPECT_TRUE(all_close((first.ntk + second.ntk) / 2, whole.ntk, 1e-13, 0));
}

// With many coordinates, products of single inputs and of all at once take different loops.
TEST(DrawnAttention, OfManyCoordinatesDoesNotDependOnTiles) {
  Generator rng(5);
  const Tensor x = normal({7, 5, 4}, rng, 0, 1, f64), y = normal({4, 5, 4}, rng, 0, 1, f64);
  const Sequential net = deep_net(drawn(20));
  const auto by = limit(net).with_landmarks(x);
  const Gram whole = gram(by, y, x, {.replicates = 2});
  for (const std::int64_t tile : {1, 2, 3})
    EXPECT_TRUE(all_equal(gram(by, y, x, {.tile = tile, .replicates = 2}).ntk, whole.ntk)) << tile;
  const Gram part = gram(by, slice(y, 0, {.start = 2, .stop = 3}), x, {.tile = 3, .replicates = 2});
  EXPECT_TRUE(all_equal(part.ntk, slice(whole.ntk, 0, {.start = 2, .stop = 3})));
}

// The mean share that coordinates leave out of a token is no less than that of the directions of
// least variance of the tokens at unit length, and all of it without any. No token has less than
// the mean of them has.
TEST(DrawnAttention, TellsWhatCoordinatesLeaveOut) {
  Generator rng(5);
  const Tensor x = normal({20, 5, 4}, rng, 0, 1, f64);
  const Tensor lengths = sqrt(sum(square(reshape(x, {100, 4})), -1, keep_dims));
  const Tensor tokens = reshape(x, {100, 4}) / lengths;
  const Tensor variances = lapack::eigenvalues(matmul(transpose(tokens), tokens));  // ascending
  MultiHeadAttentionOptions options = drawn(4);
  const auto share = [&](std::int64_t coordinates) {
    options.limit_draws.coordinates = coordinates;
    const auto by = limit(layer_of(options));
    const auto shares = by.unexplained(x), most = by.most_unexplained(x);
    EXPECT_EQ(shares.size(), 1u);
    EXPECT_GE(most.at(0), shares.at(0));
    EXPECT_LT(most.at(0), 1 + 1e-12);
    // A scale of one input, or of all, is none of a share.
    EXPECT_NEAR(limit(layer_of(options)).unexplained(1e6 * x).at(0), shares.at(0), 1e-9);
    return shares.at(0);
  };
  EXPECT_NEAR(share(0), 1, 1e-12);
  double least = 0;
  for (const std::int64_t coordinates : {3, 2, 1}) {
    least += variances.to_vector()[static_cast<std::size_t>(3 - coordinates)];
    const double left = share(coordinates), best = least / sum(variances).item();
    EXPECT_GT(left, best);
    EXPECT_LT(left, 2 * best) << coordinates;
  }
  EXPECT_LT(share(4), 1e-12);
  options.form.weighting = Weighting::identity;
  EXPECT_TRUE(limit(layer_of(options)).unexplained(x).empty());
}

TEST(DrawnAttention, GramTellsWhatCoordinatesLeaveOut) {
  Generator rng(5);
  const Inputs x{normal({9, 5, 4}, rng, 0, 1, f64), bernoulli({9, 5}, rng, 0.8)};
  MultiHeadAttentionOptions options = drawn(4);
  options.limit_draws.coordinates = 3;
  options.out = 4;
  const Activation relu(Nonlinearity::relu);
  const Sequential net(layer_of(options), relu, layer_of(options), MeanPositions());
  const auto by = limit(net).with_landmarks(x);
  std::vector<double> shares(2);
  for (const std::uint64_t r : {0, 1, 2}) {
    const auto one = by.with_replicate(r).unexplained(x);
    for (std::size_t i = 0; i < 2; ++i) shares[i] += one.at(i) / 3;
  }
  for (const std::int64_t tile : {0, 2}) {
    const Gram g = gram(by, x, {.tile = tile, .replicates = 3});
    ASSERT_EQ(g.unexplained.size(), 2u);
    EXPECT_NEAR(g.unexplained[0], shares[0], 1e-12);  // the same in every replicate
    EXPECT_NEAR(g.unexplained[1], shares[1], 1e-12);
    EXPECT_GT(g.most_unexplained.at(1), g.unexplained[1]);
    EXPECT_GT(g.unexplained[1], 0.1);
    EXPECT_TRUE(
        g.describe().starts_with("drawn, with standard errors of the NNGP kernel up to 0."));
    EXPECT_TRUE(g.describe().ends_with("%) of a token's variance"));
  }
  const Gram cross = gram(by, x.rows(0, 4), x.rows(4, 9), {.replicates = 2});
  EXPECT_NEAR(cross.unexplained.at(0), shares[0], 1e-12);  // of both blocks
  options.form.weighting = Weighting::identity;
  const Gram closed = gram(limit(layer_of(options)), x);
  EXPECT_TRUE(closed.unexplained.empty());
  EXPECT_EQ(closed.describe(), "closed");
}

// The NNGP alone, of which some inputs' tokens lie in the common coordinates, and others do not.
TEST(DrawnAttention, ChoosesByThePairAlone) {
  Generator rng(5);
  const Tensor x = normal({6, 4, 4}, rng, 0, 1, f64);
  const Slice last_two{.start = 2};
  fill_(slice(slice(x, 0, {.stop = 3}), 2, last_two), 0);  // three inputs in two dimensions
  MultiHeadAttentionOptions options = drawn(20);
  options.limit_draws.coordinates = 3;
  const auto by = limit(layer_of(options)).with_landmarks(slice(x, 0, {.stop = 3}));
  const auto run = [&](std::int64_t tile) {
    return gram(by, x, x, {.get = infinite::Get::nngp, .tile = tile, .replicates = 2}).nngp;
  };
  const Tensor whole = run(100);
  for (const std::int64_t tile : {1, 2, 4}) EXPECT_TRUE(all_equal(run(tile), whole));
}

// Of a token all but 4e-13 of whose variance the coordinates explain, the rest still has a
// covariance of 6e-7 with one that lies outside of them: the pair's NNGP kernel is that which its
// NTK is computed with.
TEST(DrawnAttention, LeavesOutNoCovarianceOfWhatIsNearlyExplained) {
  Generator rng(6);
  const Tensor x = normal({5, 4, 4}, rng, 0, 1, f64);
  fill_(slice(slice(x, 0, {.stop = 4}), 2, {.start = 2}), 0);  // four inputs in two dimensions
  fill_(at(x, {3, all_of, 2}), 1e-6);
  MultiHeadAttentionOptions options = drawn(20);
  options.limit_draws.coordinates = 2;
  const auto by = limit(layer_of(options)).with_landmarks(slice(x, 0, {.stop = 3}));
  const Inputs near = slice(x, 0, {.start = 3, .stop = 4}), far = slice(x, 0, {.start = 4});
  for (const auto& [a, b] : {std::pair(near, far), std::pair(far, near)})
    EXPECT_TRUE(all_close(by(a, b, infinite::Get::nngp).nngp, by(a, b).nngp, 1e-12, 1e-12));
}

TEST(DrawnAttention, DependsOnSeedReplicateAndLayer) {
  const Blocks x = blocks();
  MultiHeadAttention layer = layer_of(drawn(10));
  const auto draw = [&](std::uint64_t replicate) {
    return limit(layer).with_replicate(replicate)(x.a, x.b).nngp;
  };
  const Tensor first = draw(0);
  EXPECT_TRUE(all_equal(draw(0), first));
  EXPECT_FALSE(all_equal(draw(1), first));
  layer.limit_draws.seed = 1;
  EXPECT_FALSE(all_equal(draw(0), first));
}

TEST(DrawnAttention, AsksForInputs) {
  const Blocks x = blocks();
  test::expect_error([&] { limit(layer_of(drawn(10)))(infinite::input_kernel(x.a, x.b)); },
                     "call infinite::limit(model)(inputs)");
}

// --- errors, and what they do ---

// Means over replicates lie about the value of a long run as their standard errors say.
TEST(DrawnAttention, GramReportsItsStandardError) {
  const Inputs x = blocks().a;
  const Gram g = gram(limit(layer_of(drawn(200))), x, {.replicates = 20});
  const Gram longer = gram(limit(layer_of(drawn(30000))), x, {.replicates = 2});
  EXPECT_LT(test::largest_z(longer.nngp, g.nngp, g.nngp_se), 4);
  EXPECT_LT(test::largest_z(longer.ntk, g.ntk, g.ntk_se), 4);
  EXPECT_GT(test::largest_z(longer.nngp * 1.05, g.nngp, g.nngp_se), 4);
}

// Errors fall as one over the root of the number of draws, once there are several orthogonal groups
// (of 16 here): 64 times as many, an eighth.
TEST(DrawnAttention, ErrorsFallAsTheRootOfDraws) {
  const Inputs x = blocks(4).a;
  const auto error = [&](std::int64_t samples) {
    const Gram g = gram(limit(layer_of(drawn(samples))), x, {.replicates = 64});
    return std::pair(mean(g.nngp_se).item(), mean(g.ntk_se).item());
  };
  const auto [few, few_ntk] = error(64);
  const auto [many, many_ntk] = error(4096);
  // An entry's standard error is known to 1/sqrt(2·63) = 9%; the mean of many, which share draws,
  // a little better. ±40% is beyond four of these.
  EXPECT_NEAR(few / many, 8, 3.2);
  EXPECT_NEAR(few_ntk / many_ntk, 8, 3.2);
}

// Fewer coordinates leave out what two inputs' remainders share, and nothing of an input's own law.
TEST(DrawnAttention, KeepsEachInputsLawInFewCoordinates) {
  const Inputs x = blocks(4).a;
  MultiHeadAttentionOptions options = drawn(400);
  const Gram exact = gram(limit(layer_of(options)), x, {.replicates = 20});
  options.limit_draws.coordinates = 0;
  const Gram own = gram(limit(layer_of(options)), x, {.replicates = 20});
  for (const std::int64_t n : {0, 1}) {
    const auto z = [&](auto Gram::*k, const Tensor Gram::*se) {
      const Tensor error = sqrt(square(at(exact.*se, {n, n})) + square(at(own.*se, {n, n})));
      return test::largest_z(at(exact.*k, {n, n}), at(own.*k, {n, n}), error);
    };
    EXPECT_LT(z(&Gram::nngp, &Gram::nngp_se), 4.5);
    EXPECT_LT(z(&Gram::ntk, &Gram::ntk_se), 4.5);
  }
}

TEST(DrawnAttention, BehindAnotherIsThatOfNetworks) {
  const auto make = [](Generator& rng) {
    MultiHeadAttentionOptions options = drawn(4000);
    options.value_head_dim = 8;
    options.out = 96;
    auto net = std::make_unique<Sequential>(MultiHeadAttention(options, rng));
    options.dim = 96;
    options.out = 32;
    net->append(MultiHeadAttention(options, rng));
    return net;
  };
  const Blocks x = blocks();
  test::expect_limit(make, x.a, x.b,
                     {.seed = 3, .options = {.draws = 200, .kernel = {.channels = 1}}});
}

}  // namespace
}  // namespace ladon::attention_draws_test
