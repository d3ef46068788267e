// Gram matrices computed in tiles: equal in every bit for all sizes of tiles.

#include <atomic>
#include <cmath>
#include <map>
#include <memory>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/gram/plan.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"

namespace ladon::gram_test {
namespace {

using infinite::gram;
using infinite::Gram;
using infinite::limit;
using test::attention_net;
using test::draw;
using test::expect_same_bits;
using test::Noise;
using test::relu_net;
using test::same_bits;
using test::Sampling;

constexpr std::int64_t unit = infinite::vector_unit;

TEST(Gram, IsTheLimitOfAllInputs) {
  const Sequential net = relu_net(7);
  const Tensor x = draw({70, 7}), y = draw({5, 7}, 3);
  const infinite::Kernel k = limit(net)(x, y);
  const Gram g = gram(limit(net), x, y);
  EXPECT_TRUE(same_bits(g.nngp, k.nngp));
  EXPECT_TRUE(same_bits(g.ntk, k.ntk));
  EXPECT_FALSE(gram(limit(net), x, y, {.get = infinite::Get::nngp}).ntk.defined());
  EXPECT_FALSE(g.nngp_se.defined());
}

TEST(Gram, HasTheSameBitsForAnyTileAndNumberOfThreads) {
  const Sequential net = relu_net(300);
  const Tensor x = draw({3 * unit + 9, 300}), y = draw({2 * unit - 5, 300}, 3);
  const Gram whole = gram(limit(net), x, y, {.tile = 1000});
  expect_same_bits(gram(limit(net), x, y, {.tile = INT64_MAX}), whole, "as large as can be");
  const int before = num_threads();
  for (const int threads : {1, 3})
    for (const std::int64_t tile : {std::int64_t{0}, unit, unit + 40, 3 * unit}) {
      set_num_threads(threads);
      expect_same_bits(gram(limit(net), x, y, {.tile = tile}), whole,
                       detail::join("tile ", tile, ", ", threads, " threads"));
    }
  set_num_threads(before);
}

TEST(Gram, WithPositionsHasTheSameBitsForAnyTile) {
  const Sequential net = attention_net(6);
  const Tensor x = draw({11, 3, 6});
  const Gram whole = gram(limit(net), x, x, {.tile = 20});
  EXPECT_EQ(whole.ntk.shape(), (Shape{11, 11, 3, 3}));
  for (const std::int64_t tile : {1, 2, 3, 8})
    expect_same_bits(gram(limit(net), x, x, {.tile = tile}), whole, detail::join("tile ", tile));
}

// Models that end with positions, each with the same of the other input only.
TEST(Gram, OfEachPositionWithTheSameIsTheDiagonal) {
  Generator rng(4);
  const Sequential net(Conv1d({.in = 3, .out = 8, .window = {3}, .padding = Padding::same}, rng),
                       Activation(Nonlinearity::relu), Linear({.in = 8, .out = 2}, rng));
  const Tensor x = draw({9, 5, 3}), y = draw({4, 5, 3}, 3);
  const auto own = [](const Gram& g) {
    return Gram{diagonal(g.nngp), diagonal(g.ntk), Tensor(), Tensor()};
  };
  for (const std::int64_t tile : {0, 1, 4, 20}) {
    const infinite::GramOptions all{.tile = tile};
    const infinite::GramOptions some{.entries = infinite::Entries::diagonal, .tile = tile};
    expect_same_bits(gram(limit(net), x, y, some), own(gram(limit(net), x, y, all)), "two blocks");
    expect_same_bits(gram(limit(net), x, some), own(gram(limit(net), x, all)), "one block");
  }
}

TEST(Gram, CutsAnyNumberOfTiles) {
  for (const bool symmetric : {false, true})
    for (const std::int64_t side : {1, 2, 3, 7, 10}) {
      const infinite::GramTiles tiles(10, symmetric ? 10 : 7, side, symmetric);
      Tensor seen = zeros({10, symmetric ? 10 : 7}, f64);
      double pairs = 0;
      for (std::int64_t i = 0; i < tiles.count(); ++i) {
        const infinite::GramTile t = tiles[i];
        pairs += static_cast<double>(t.rows * t.columns);
        Tensor window = slice(slice(seen, 0, {.start = t.row, .stop = t.row + t.rows}), 1,
                              {.start = t.column, .stop = t.column + t.columns});
        copy_(window, window + 1);
      }
      EXPECT_EQ(pairs, tiles.pairs());
      EXPECT_TRUE(all_equal(symmetric ? triu(seen) : seen,
                            symmetric ? triu(ones({10, 10}, f64)) : ones({10, 7}, f64)));
    }
  const infinite::GramTiles many(5'000'000, 5'000'000, 1, true);
  EXPECT_EQ(many.count(), std::int64_t{5'000'000} * 5'000'001 / 2);
  const infinite::GramTile last = many[many.count() - 1], second = many[5'000'000];
  EXPECT_EQ(last.row, 4'999'999);
  EXPECT_EQ(last.column, 4'999'999);
  EXPECT_EQ(second.row, 1);
  EXPECT_EQ(second.column, 1);
}

TEST(Gram, OfNoInputsIsTheirLimit) {
  const Sequential net = relu_net(7), tokens = attention_net(6);
  const Tensor none = zeros({0, 7}, f64);
  EXPECT_EQ(gram(limit(net), none).ntk.shape(), (Shape{0, 0}));
  EXPECT_EQ(gram(limit(net), draw({3, 7}), none).nngp.shape(), (Shape{3, 0}));
  EXPECT_EQ(gram(limit(tokens), zeros({0, 4, 6}, f64)).ntk.shape(), (Shape{0, 0, 4, 4}));
  EXPECT_EQ(estimate_gram(limit(net), none).tiles, 0);
}

// Counts what a model makes of single inputs: once per input, whatever the tile.
TEST(Gram, ComputesEachInputOnceAlone) {
  struct Counting : Layer {
    std::shared_ptr<std::atomic<std::int64_t>> alone =
        std::make_shared<std::atomic<std::int64_t>>();
    Tensor forward(const Tensor& x) const override { return x; }
    infinite::KernelNode limit(const infinite::KernelNode& k) const override {
      return infinite::map_pairs(k, {.makes = k.law}, [this](const infinite::Pairs& p) {
        if (p.nngp.rank() == 3) *alone += p.nngp.size(0);  // [N, T, T]
        return infinite::PairKernels{p.nngp, p.ntk};
      });
    }
    void visit(Visitor&) override {}
    std::string describe() const override { return "Counting"; }
  };
  const Counting layer;
  gram(limit(layer), draw({20, 3, 5}), {.tile = 1});
  EXPECT_LE(*layer.alone, 20 + 200);  // and some to measure, where a tile for each pair has 3·210
}

// What measuring the cost of few inputs computes is the result; a layer may still hold it.
TEST(Gram, OwnsWhatALayerHolds) {
  struct Constant : Layer {
    Tensor kernel = draw({5, 5}), before = clone(kernel);
    Tensor forward(const Tensor& x) const override { return x; }
    infinite::KernelNode limit(const infinite::KernelNode& k) const override {
      return infinite::map_pairs(k, {.makes = k.law}, [this](const infinite::Pairs& p) {
        const bool all = p.nngp.shape() == kernel.shape();
        const Tensor y = all ? kernel : p.nngp;
        return infinite::PairKernels{y, p.ntk.defined() ? y : p.ntk};
      });
    }
    void visit(Visitor&) override {}
    std::string describe() const override { return "Constant"; }
  };
  const Constant layer;
  const Gram g = gram(limit(layer), draw({5, 3}));
  EXPECT_TRUE(same_bits(layer.kernel, layer.before));
  EXPECT_FALSE(same_elements(g.nngp, g.ntk));
  EXPECT_TRUE(same_bits(triu(g.nngp), triu(layer.kernel)));
  EXPECT_TRUE(same_bits(g.ntk, transpose(g.ntk)));
}

TEST(Gram, OfFewInputsHasTheBitsOfAnyTiles) {
  const Sequential vectors = relu_net(7), tokens = attention_net(6);
  Generator rng(1);
  const MultiHeadAttention identity({.dim = 6,
                                     .heads = 1,
                                     .causal = true,
                                     .form = {.weighting = Weighting::identity},
                                     .prior = {.parameterization = Parameterization::ntk}},
                                    rng);
  const Tensor x = draw({9, 7}), y = draw({9, 4, 6});
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 16}) {
    set_num_threads(threads);
    const auto expect = [&](const Layer& net, const Tensor& of) {
      const Gram whole = gram(limit(net), of);
      EXPECT_EQ(estimate_gram(limit(net), of).tiles, 1) << net.describe();
      for (const std::int64_t tile : {1, 2, 4})
        expect_same_bits(gram(limit(net), of, {.tile = tile}), whole, net.describe());
    };
    expect(vectors, x);
    expect(tokens, y);
    expect(identity, y);
  }
  set_num_threads(before);
}

TEST(Gram, OfOneBlockIsSymmetricAndAgreesAboveTheDiagonal) {
  const Sequential net = relu_net(300);
  const Tensor x = draw({3 * unit + 9, 300});
  const Gram half = gram(limit(net), x, {.tile = unit}), whole = gram(limit(net), x, x);
  for (const auto which : {&Gram::nngp, &Gram::ntk}) {
    EXPECT_TRUE(same_bits(half.*which, transpose(half.*which)));
    EXPECT_TRUE(same_bits(triu(half.*which), triu(whole.*which)));
    EXPECT_TRUE(all_close(half.*which, whole.*which, 1e-8, 0));
  }
  const Sequential attention = attention_net(5);
  const Tensor tokens = draw({9, 3, 5});
  const Gram blocks = gram(limit(attention), tokens, {.tile = 2});
  EXPECT_TRUE(same_bits(blocks.ntk, permute(blocks.ntk, {1, 0, 3, 2})));
  EXPECT_TRUE(all_close(blocks.ntk, gram(limit(attention), tokens, tokens).ntk, 1e-12, 1e-15));
}

TEST(Gram, TellsWhichInputsAreTheSame) {
  const Noise noise;
  const Tensor x = draw({unit + 2, 4});
  const Tensor k = gram(limit(noise), x, {.tile = unit}).nngp;
  const Tensor plain = gram(limit(noise), x, x, {.tile = unit}).nngp;
  EXPECT_TRUE(same_bits(k, plain * (eye(unit + 2, f64) + 1)));
}

TEST(Gram, AveragesReplicatesAndTellsTheirError) {
  const Sampling layer;
  const Tensor x = draw({unit + 2, 4});
  const Gram g = gram(limit(layer), x, {.tile = unit, .replicates = 5});
  const Tensor plain = infinite::input_kernel(x, x).nngp;
  EXPECT_TRUE(all_close(triu(g.nngp), triu(plain + 2), 1e-12, 1e-12));  // (0 + 1 + 2 + 3 + 4)/5
  EXPECT_TRUE(all_close(g.ntk, full(plain.shape(), -4, f64), 1e-12, 0));
  const double se = std::sqrt(2.5 / 5);
  EXPECT_TRUE(all_close(g.nngp_se, full(plain.shape(), se, f64), 1e-9, 0));
  EXPECT_TRUE(all_close(g.ntk_se, full(plain.shape(), 2 * se, f64), 1e-9, 0));
}

}  // namespace
}  // namespace ladon::gram_test
