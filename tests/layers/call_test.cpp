// Calls of layers by operator(), which does more than forward(): names of layers in errors, hooks,
// masks.

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::call_test {
namespace {

/// A layer that mixes positions and knows no mask; and one that says that it does not mix them.
struct Reversed : Layer {
  Tensor forward(const Tensor& x) const override { return flip(x, {1}); }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Reversed"; }
};
struct Halved : Layer {
  Tensor forward(const Tensor& x) const override { return x * 0.5; }
  bool per_position() const override { return true; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Halved"; }
};

TEST(Mask, IsNotDroppedInSilence) {
  const Tensor x = ones({2, 3, 4}), mask = ones({2, 3}, boolean);
  test::expect_error([&] { Reversed()(x, mask); },
                     "[forward_masked] Reversed got a mask of padding, but does not support one");
  test::expect_error([&] { Sequential(Halved(), Reversed())(x, mask); }, "Reversed got a mask");
  EXPECT_TRUE(all_equal(Halved()(x, mask), x * 0.5));
  EXPECT_TRUE(all_equal(Reversed()(x, Tensor()), x));
}

TEST(Errors, TellWhereInTheModelTheyAroseByItsNames) {
  Generator rng(1);
  TransformerEncoder encoder({.layer = {.dim = 8, .heads = 2}, .layers = 2}, rng);
  encoder.layers[1].feedforward.contract->weight = parameter(zeros({8, 5}));
  test::expect_error([&] { encoder(ones({1, 3, 8})); }, "layers.1.contract: [linear] ");
  encoder.layers[0].attention->key_bias = parameter(zeros({7}));
  test::expect_error([&] { encoder(ones({1, 3, 8})); }, "layers.0.attention: [");
  Linear alone({.in = 4, .out = 3}, rng);
  try {
    alone(ones({5, 7}));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 8), "[linear]") << "no name but its own";
  }
}

TEST(Errors, OfAnUnlistedLayerAreNamedByItsDescription) {
  struct Hidden : Layer {
    Tensor forward(const Tensor& x) const override {
      Generator rng(1);
      return Linear({.in = 4, .out = 3}, rng)(x);
    }
    void visit(Visitor&) override {}
    std::string describe() const override { return "Hidden"; }
  };
  test::expect_error([] { Hidden()(ones({2, 5})); }, "Linear(4 → 3): [linear]");
}

TEST(Errors, ThatWereCaughtInsideLeaveNoTrace) {
  struct Lenient : Layer {
    Linear inner;
    explicit Lenient(Generator& rng) : inner({.in = 4, .out = 3}, rng) {}
    Tensor forward(const Tensor& x) const override {
      try {
        inner(x);
      } catch (const Error&) {
      }
      return matmul(x, ones({9, 9}));
    }
    void visit(Visitor& v) override { v("inner", inner); }
    std::string describe() const override { return "Lenient"; }
  };
  Generator rng(1);
  const Lenient model(rng);
  for (int i = 0; i < 3; ++i) {
    try {
      model(ones({2, 5}));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).substr(0, 8), "[matmul]");
    }
  }
}

TEST(ForwardHooks, SeeOutputsReplaceThemAndReachTheirGradients) {
  Generator rng(1);
  Sequential model(Linear({.in = 4, .out = 4}, rng), Activation(Nonlinearity::relu));
  const Tensor x = normal({3, 4}, rng), plain = model(x);
  Tensor seen, gradient;
  HookHandle look = model.layers[0]->register_forward_hook([&](const Tensor& y) {
    seen = y.detach();
    register_hook(y, [&](const Tensor& g) {
      gradient = g;
      return Tensor();
    });
    return Tensor();
  });
  HookHandle twice = model.register_forward_hook([](const Tensor& y) { return y * 2.0; });
  const Tensor y = model(x);
  EXPECT_TRUE(all_equal(y, plain * 2.0));
  EXPECT_TRUE(all_equal(relu(seen), plain.detach()));
  backward(sum(y));
  EXPECT_TRUE(all_equal(gradient, 2.0 * cast(greater(seen, 0), f32)));
  const Sequential copy = model;
  EXPECT_TRUE(all_equal(copy(x), plain)) << "hooks are no part of copies";
  twice.remove();
  look.remove();
  EXPECT_TRUE(all_equal(model(x), plain));
}

TEST(Checkpoint, OfLayersWithDropoutHasTheirGradients) {
  Generator rng(1), same(1);
  const TransformerEncoderLayer plain({.dim = 16, .heads = 2}, rng),
      again({.dim = 16, .heads = 2}, same);
  const Tensor x = normal({4, 6, 16}, rng);
  const Tensor loss = sum(square(plain(x)));
  const Tensor recomputed =
      sum(square(checkpoint([&](const auto& in) { return again(in[0]); }, {x})));
  EXPECT_TRUE(all_equal(loss, recomputed));
  backward(loss);
  backward(recomputed);
  const auto a = plain.parameters(), b = again.parameters();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(all_equal(a[i].grad(), b[i].grad())) << i;
}

TEST(Threads, TrainOneModelTogether) {
  Generator rng(1);
  TransformerEncoder model({.layer = {.dim = 8, .heads = 2}, .layers = 1}, rng);
  const Tensor x = normal({2, 5, 8}, rng);
  constexpr int sweeps = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < sweeps; ++k) backward(sum(square(model(x))));
    });
  for (std::thread& t : threads) t.join();
  for (const Tensor& p : model.parameters()) EXPECT_TRUE(all(isfinite(p.grad())).item<bool>());
  // The final norm's bias has the gradient Σ 2y, which masks do not change the size of: all are in.
  model.zero_grad();
  model.eval();
  backward(sum(square(model(x))));
  const Tensor one = clone(static_cast<const LayerNorm&>(*model.final_norm).bias.grad());
  model.zero_grad();
  threads.clear();
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < sweeps; ++k) backward(sum(square(model(x))));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(all_close(static_cast<const LayerNorm&>(*model.final_norm).bias.grad(),
                        one * double(4 * sweeps), 1e-4, 1e-3));
}

// A call that neither forward() nor Layer takes does not exist, as overloads and concepts may ask.
static_assert(
    std::is_invocable_r_v<Tensor, const MultiHeadAttention&, const Tensor&, AttentionMask>);
static_assert(std::is_invocable_r_v<Tensor, const MultiHeadAttention&, const Tensor&, Tensor&>);
static_assert(!std::is_invocable_v<const MultiHeadAttention&, int>);
static_assert(!std::is_invocable_v<const TransformerDecoder&, const Tensor&, AttentionMask>);

}  // namespace
}  // namespace ladon::call_test
