// Limits of the layers against finite networks.

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon {
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
  test::expect_error([&] { limit(Sequential(Flatten(), dense))(x); }, "that have 28");
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
  test::expect_error([&] { limit(net)(ones({2, 3})); }, "layers.145: [limit] makes a NNGP kernel");
  test::expect_error([&] { limit(net)(ones({2, 3})); }, "between inputs 0 and 0");
  const Linear dense({.in = 3, .out = 8}, rng);
  test::expect_error([&] { limit(dense)(full({2, 3}, 1e200, f64)); }, "[input_kernel] makes");
}

TEST(Limit, RefusesWhatIsNoNumberUnlessItIsMasked) {
  Generator rng(1);
  const Sequential net(Linear({.in = 3, .out = 8}, rng), MeanPool());
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

/// A layer that does what it is told.
struct Doing : Layer {
  std::function<infinite::Kernel(const infinite::Kernel&)> map;
  bool any_entries = true;
  explicit Doing(std::function<infinite::Kernel(const infinite::Kernel&)> f) : map(std::move(f)) {}
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::Kernel limit(const infinite::Kernel& k) const override { return map(k); }
  infinite::Entries needs(infinite::Entries wanted) const override {
    return any_entries ? wanted : infinite::Entries::full;
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Doing"; }
};

TEST(Limit, RefusesAKernelOfTheWrongShape) {
  const Doing wrong([](const infinite::Kernel& k) {
    return infinite::map_pairs(k, k.law, [](const infinite::Pairs& p) {
      return p.each([](const Tensor& block) { return block + eye(4, f64); });  // of all pairs only
    });
  });
  const Tensor x = ones({1, 4, 3});
  EXPECT_EQ(limit(wrong)(x).nngp.shape(), (Shape{1, 1, 4, 4}));
  test::expect_error([&] { limit(Sequential(wrong, Flatten()))(x); }, "layers.0: [limit] makes a");
}

// A layer gets all pairs of positions unless it says that it does not need them.
TEST(Limit, GivesALayerWhatItNeeds) {
  using infinite::Entries;
  std::vector<Entries> seen;
  const auto note = [&seen](const infinite::Kernel& k) {
    seen.push_back(k.entries);
    return k;
  };
  Doing own(note), all(note);
  all.any_entries = false;
  const Tensor x = ones({2, 4, 3});
  limit(Sequential(own, all, own, Flatten()))(x);
  EXPECT_EQ(seen, (std::vector{Entries::full, Entries::full, Entries::diagonal}));
  seen.clear();
  limit(Sequential(own, MeanPool()))(x);
  EXPECT_EQ(seen, (std::vector{Entries::full}));
  test::expect_error([&] { MeanPool()(infinite::input_kernel(x, {.entries = Entries::diagonal})); },
                     "needs all pairs of positions");
}

/// A limit that makes its map in some passes: of those that are asked for an NTK, or of the others.
struct Odd : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::Kernel limit(const infinite::Kernel& k) const override {
    if (k.ntk.defined() == skips_where_ntk) return k;
    return infinite::map_pairs(k, k.law, [](const infinite::Pairs& p) {
      return p.each([](const Tensor& block) { return 1.0 * block; });
    });
  }
  infinite::Entries needs(infinite::Entries wanted) const override { return wanted; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Odd"; }
  bool skips_where_ntk = true;
};

// Steps of a pass are told apart by their number: one that is left out must not shift the others.
TEST(Limit, RefusesALayerThatMapsMoreOrLessOftenInOnePass) {
  const auto dense = [](std::int64_t in) {
    Generator rng(static_cast<std::uint64_t>(in));
    return Linear({.in = in, .out = 8, .parameterization = Parameterization::ntk}, rng);
  };
  Generator rng(1);
  const Activation relu(Nonlinearity::relu);
  for (const bool where_ntk : {true, false}) {
    Odd odd;
    odd.skips_where_ntk = where_ntk;
    const char* wrong = where_ntk ? "a pass ended with step" : "a layer took step";
    const Sequential vectors(dense(3), odd, dense(8), relu, dense(8));
    const Tensor x = normal({4, 3}, rng, 0, 1, f64);
    EXPECT_NO_THROW(limit(vectors)(x));  // one pass, and so nothing to shift
    test::expect_error([&] { gram(limit(vectors), x); }, wrong);
    EXPECT_NO_THROW(gram(limit(vectors), x, {.get = infinite::Get::nngp}));
    // Where a layer draws, limit() too has several passes.
    const Tensor tokens = normal({4, 5, 3}, rng, 0, 1, f64);
    const MultiHeadAttention attention({.dim = 8, .heads = 1}, rng);
    const Sequential net(dense(3), attention, MeanPool(), odd, dense(8), relu, dense(8));
    test::expect_error([&] { limit(net)(tokens); }, wrong);
    test::expect_error([&] { limit(net)(clone(tokens).set_requires_grad()); }, wrong);
    test::expect_error([&] { gram(limit(net), tokens); }, wrong);
    test::expect_error([&] { gram_diagonal(limit(net), tokens); }, wrong);
    EXPECT_NO_THROW(limit(net)(tokens, infinite::Get::nngp));
  }
}

/// Draws where no NTK is asked for.
struct DrawsInOnePass : Odd {
  explicit DrawsInOnePass(MultiHeadAttention layer) : attention(std::move(layer)) {}
  infinite::Kernel limit(const infinite::Kernel& k) const override {
    return k.ntk.defined() ? k : attention(k);
  }
  bool draws() const override { return true; }
  infinite::Entries needs(infinite::Entries) const override { return infinite::Entries::full; }
  MultiHeadAttention attention;
};

TEST(Limit, RefusesALayerThatDrawsInOnePassAlone) {
  Generator rng(1);
  const DrawsInOnePass layer(MultiHeadAttention({.dim = 3, .heads = 1}, rng));
  const Tensor x = normal({4, 5, 3}, rng, 0, 1, f64);
  test::expect_error([&] { limit(layer)(x); }, "in every pass");
  test::expect_error([&] { gram(limit(layer), x); }, "in every pass");
}

// A branch was run a second time to learn whether it is independent, which doubled at each level.
TEST(Limit, RunsEachBranchOnce) {
  Generator rng(1);
  int calls = 0;
  const Doing counting([&calls](const infinite::Kernel& k) {
    ++calls;
    return k;
  });
  Sequential net(counting);
  for (int i = 0; i < 12; ++i) {
    Sequential outer(Linear({.in = 3, .out = 3}, rng));
    outer.append(Sum(std::move(net), Linear({.in = 3, .out = 3}, rng)));
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
}  // namespace ladon
