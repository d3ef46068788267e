// Infinite-width limits of layers, compared with finite networks.

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::limit_test {
namespace {

using infinite::Inputs;
using infinite::limit;

std::unique_ptr<Layer> linear_net(Generator& rng) {
  constexpr auto ntk = Parameterization::ntk;
  auto net = std::make_unique<Sequential>();
  net->append(Linear(
      {.in = 3, .out = 256, .parameterization = ntk, .weight_std = 1.3, .bias_std = 0.4}, rng));
  net->append(Linear(
      {.in = 256, .out = 8, .parameterization = ntk, .weight_std = 0.9, .bias_std = 0.2}, rng));
  return net;
}

TEST(Limit, OfTwoLinearLayers) {
  Generator rng(3);
  const Tensor x = normal({3, 3}, rng, 0, 1, f64), y = normal({2, 3}, rng, 0, 1, f64);
  test::expect_limit(linear_net, x, y);
}

TEST(Limit, OfSequencesWithoutTokensIsEmpty) {
  Generator rng(1);
  const MultiHeadAttention attention({.dim = 5, .heads = 1, .projection_bias = false}, rng);
  for (const std::int64_t inputs : {1, 3, 40}) {
    const Tensor x = zeros({inputs, 0, 5}, f64);
    EXPECT_EQ(infinite::input_kernel({x}, infinite::Get::ntk).cov1.shape(), (Shape{inputs, 0, 0}));
    EXPECT_EQ(limit(attention)(x).nngp.shape(), (Shape{inputs, inputs, 0, 0}));
  }
}

// --- what is wrong is said, where it arises ---

TEST(Limit, ExpectsTheChannelsThatTheInputsHave) {
  Generator rng(1);
  const Linear dense({.in = 5, .out = 8}, rng);
  const Tensor x = normal({3, 4, 7}, rng);
  test::expect_error([&] { limit(dense)(x); }, "[Linear] expects 5 channels");
  test::expect_error([&] { limit(Sequential(Flatten(), dense))(x); }, "inputs with 28");
  const Conv1d filter({.in = 5, .out = 8, .window = {2}}, rng);
  test::expect_error([&] { limit(filter)(x); }, "expects 10 channels");
  const MultiHeadAttention attention({.dim = 5, .heads = 1, .projection_bias = false}, rng);
  test::expect_error([&] { limit(attention)(x); }, "expects 5 channels");
  const LearnedPositions positions({.max_length = 6, .dim = 5}, rng);
  test::expect_error([&] { limit(positions)(x); }, "expects 5 channels");
  const Linear fits({.in = 28, .out = 8}, rng);
  EXPECT_EQ(limit(Sequential(Flatten(), fits))(x).nngp.shape(), (Shape{3, 3}));
}

TEST(Limit, TellsWhichLayerOverflows) {
  Generator rng(1);
  Sequential net;
  for (int i = 0; i < 300; ++i) {
    net.append(Linear({.in = i == 0 ? 3 : 8,
                       .out = 8,
                       .parameterization = Parameterization::ntk,
                       .weight_std = 16},
                      rng));
    net.append(Activation(Nonlinearity::relu));
  }
  test::expect_error(
      [&] {
        limit(net)(ones({2, 3}));
      },
      "layers.290: [limit] the tangent kernel is inf");
  test::expect_error([&] { limit(net)(ones({2, 3})); }, "between inputs 0 and 0");
  const Linear dense({.in = 3, .out = 8}, rng);
  test::expect_error(
      [&] {
        limit(dense)(full({2, 3}, 1e200, f64));
      },
      "[input_kernel] the NNGP kernel is inf");
}

TEST(Limit, RefusesWhatIsNoNumberUnlessItIsMasked) {
  Generator rng(1);
  const Sequential net(Linear({.in = 3, .out = 8}, rng), MeanPositions());
  const Tensor x = normal({2, 4, 3}, rng, 0, 1, f64);
  Tensor spoiled = clone(x);
  fill_(at(spoiled, {1, 2}), NAN);
  fill_(at(spoiled, {1, 3}), INFINITY);
  test::expect_error([&] { limit(net)(spoiled); }, "input 1 holds a number that is not finite");
  const Tensor mask = cast(tensor({1, 1, 1, 1, 1, 1, 0, 0}, {2, 4}), boolean);
  const auto expect_equal = [&](const Inputs& a, const Inputs& b) {
    const infinite::Kernel k = limit(net)(a), other = limit(net)(b);
    EXPECT_TRUE(all_equal(k.nngp, other.nngp) && all_equal(k.ntk, other.ntk));
  };
  expect_equal({spoiled, mask}, {x, mask});
}

using infinite::KernelNode;
using infinite::Needs;
using infinite::Pairs;

/// A layer that does what it is told.
struct Doing : Layer {
  std::function<KernelNode(const KernelNode&)> map;
  explicit Doing(std::function<KernelNode(const KernelNode&)> f) : map(std::move(f)) {}
  Tensor forward(const Tensor& x) const override { return x; }
  KernelNode limit(const KernelNode& k) const override { return map(k); }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Doing"; }
};

/// A step that leaves kernels as they are.
KernelNode unchanged(const KernelNode& k, Needs needs = Needs::wanted) {
  return infinite::map_pairs(k, {.makes = k.law, .needs = needs}, [](const Pairs& p) {
    return p.each([](const Tensor& block) { return 1.0 * block; });
  });
}

TEST(Limit, RefusesAKernelOfTheWrongShape) {
  const Doing wrong([](const KernelNode& k) {
    return infinite::map_pairs(k, {.makes = k.law, .needs = Needs::wanted}, [](const Pairs& p) {
      return p.each([](const Tensor& block) { return block + eye(4, f64); });  // of all pairs only
    });
  });
  const Tensor x = ones({1, 4, 3});
  EXPECT_EQ(limit(wrong)(x).nngp.shape(), (Shape{1, 1, 4, 4}));
  test::expect_error([&] { limit(Sequential(wrong, Flatten()))(x); }, "layers.0: [limit] the ");
}

// A layer gets all pairs of positions unless it says that it does not need them.
TEST(Limit, GivesALayerWhatItNeeds) {
  using infinite::Entries;
  std::vector<Entries> seen;
  const auto noting = [&seen](Needs needs) {
    return Doing([&seen, needs](const KernelNode& k) {
      return infinite::map_pairs(k, {.makes = k.law, .needs = needs}, [&seen](const Pairs& p) {
        if (p.ntk.defined()) seen.push_back(p.entries);
        return infinite::PairKernels{p.nngp, p.ntk};
      });
    });
  };
  const Doing own = noting(Needs::wanted), all = noting(Needs::full);
  const Tensor x = ones({2, 4, 3});
  limit(Sequential(own, all, own, Flatten()))(x);
  EXPECT_EQ(seen, (std::vector{Entries::full, Entries::full, Entries::diagonal}));
  seen.clear();
  limit(Sequential(own, MeanPositions()))(x);
  EXPECT_EQ(seen, (std::vector{Entries::full}));
  const auto narrow = infinite::input_kernel(x, {.entries = Entries::diagonal});
  test::expect_error([&] { limit(MeanPositions())(narrow); }, "needs all pairs of positions");
  const Doing wrong([](const KernelNode& k) { return unchanged(k, Needs::diagonal); });
  test::expect_error([&] { limit(wrong)(x); }, "it must give vectors");
}

Linear dense(std::int64_t in) {
  Generator rng(static_cast<std::uint64_t>(in));
  return Linear({.in = in, .out = 8, .parameterization = Parameterization::ntk}, rng);
}

// The description of a layer is asked for once, and its results for single inputs are kept by step:
// so a layer may do one thing where an NTK is wanted and another where none is, or another at each
// call.
TEST(Limit, OfALayerThatMapsAsOftenAsItLikes) {
  Generator rng(1);
  const Activation relu(Nonlinearity::relu);
  const Tensor x = normal({4, 3}, rng, 0, 1, f64), tokens = normal({4, 5, 3}, rng, 0, 1, f64);
  const MultiHeadAttention attention({.dim = 8, .heads = 1, .limit_draws = {.samples = 8}}, rng);
  auto calls = std::make_shared<int>(0);
  const std::vector<std::function<KernelNode(const KernelNode&)>> limits = {
      [](const KernelNode& k) { return k.ntk() ? k : unchanged(k); },
      [](const KernelNode& k) { return k.ntk() ? unchanged(unchanged(k)) : k; },
      [](const KernelNode& k) {
        unchanged(k);  // and lets it go
        return unchanged(k);
      },
      [calls](const KernelNode& k) { return ++*calls % 2 == 0 ? k : unchanged(k); }};
  for (const auto& odd : limits)
    for (const auto get : {infinite::Get::nngp, infinite::Get::ntk}) {
      const auto expect_equal = [&](const Layer& net, const Layer& plain, const Tensor& in) {
        const auto by = limit(net).with_landmarks(in), of_plain = limit(plain).with_landmarks(in);
        const auto k = by(in, get), expected = of_plain(in, get);
        const auto g = gram(by, in, {.get = get, .tile = 2, .replicates = 2});
        const auto whole = gram(of_plain, in, {.get = get, .tile = 2, .replicates = 2});
        const auto own = gram_diagonal(by, in, {.get = get, .replicates = 2});
        EXPECT_TRUE(all_equal(k.nngp, expected.nngp) && all_equal(g.nngp, whole.nngp));
        EXPECT_TRUE(all_close(own.nngp, diagonal(g.nngp), 1e-13, 0));
        if (get == infinite::Get::ntk) {
          EXPECT_TRUE(all_equal(k.ntk, expected.ntk) && all_equal(g.ntk, whole.ntk));
        }
      };
      expect_equal(Sequential(dense(3), Doing(odd), dense(8), relu, dense(8)),
                   Sequential(dense(3), dense(8), relu, dense(8)), x);
      expect_equal(
          Sequential(dense(3), attention, MeanPositions(), Doing(odd), dense(8), relu, dense(8)),
          Sequential(dense(3), attention, MeanPositions(), dense(8), relu, dense(8)), tokens);
    }
}

// A step that the output does not depend on is not evaluated, and no average over draws.
TEST(Limit, PassesOverStepsThatNothingNeeds) {
  Generator rng(1);
  const MultiHeadAttention attention({.dim = 8, .heads = 1, .limit_draws = {.samples = 8}}, rng);
  const Doing dropped([&](const KernelNode& k) {
    attention(k);
    return k;
  });
  const Sequential net(dense(3), dropped, MeanPositions(), dense(8)),
      plain(dense(3), MeanPositions(), dense(8));
  const Tensor x = normal({4, 5, 3}, rng, 0, 1, f64);
  EXPECT_FALSE(limit(net).draws());
  EXPECT_TRUE(all_equal(limit(net)(x).ntk, limit(plain)(x).ntk));
  EXPECT_TRUE(all_equal(gram(limit(net), x).ntk, gram(limit(plain), x).ntk));
}

TEST(Limit, RefusesANodeThatWasKept) {
  std::vector<KernelNode> kept;
  const Doing stale([&](const KernelNode& k) {
    kept.push_back(k);
    return kept.front();
  });
  const Tensor x = ones({2, 3});
  EXPECT_NO_THROW(limit(stale)(x));
  test::expect_error([&] { limit(stale)(x); }, "not from one kept from an earlier call");
  const Doing mixing([&](const KernelNode& k) {
    return infinite::map_pairs(kept.front(), k, {.makes = k.law}, [](const Pairs& a, const Pairs&) {
      return infinite::PairKernels{a.nngp, a.ntk};
    });
  });
  test::expect_error([&] { limit(mixing)(x); }, "not from one kept from an earlier call");
}

// Laws are checked before there are numbers: of 10⁶ inputs no kernel is begun.
TEST(Limit, IsRefusedBeforeAnythingIsComputed) {
  const Sequential net(dense(3), Activation(Nonlinearity::relu), Activation(Nonlinearity::relu));
  test::expect_error([&] { limit(net).graph({.positions = {-1}}); },
                     "layers.2: [Activation(relu)]");
  EXPECT_EQ(limit(Sequential(dense(3), Flatten())).graph()->output().positions, Shape{});
}

// A branch was run a second time to learn whether it is independent, which doubled at each level.
TEST(Limit, RunsEachBranchOnce) {
  Generator rng(1);
  int calls = 0;
  const Doing counting([&calls](const KernelNode& k) {
    ++calls;
    return k;
  });
  Sequential net(counting);
  for (int i = 0; i < 12; ++i) {
    Sequential outer(Linear({.in = 3, .out = 3}, rng));
    outer.append(SumBranches(std::move(net), Linear({.in = 3, .out = 3}, rng)));
    net = std::move(outer);
  }
  limit(net)(ones({2, 3}));
  EXPECT_EQ(calls, 1);
}

TEST(Limit, KeepsATemporary) {
  Generator rng(1);
  const Tensor x = normal({3, 5}, rng);
  const Linear dense({.in = 5, .out = 8}, rng);
  const infinite::Limit kept = limit(Sequential(dense, Activation(Nonlinearity::relu)));
  const Sequential net(dense, Activation(Nonlinearity::relu));
  EXPECT_TRUE(all_equal(kept(x).ntk, limit(net)(x).ntk));
}

}  // namespace
}  // namespace ladon::limit_test
