// vmap beyond single operations, each of which the table of operations covers.

#include "ladon/autograd/vmap.h"

#include "ladon/autograd/forward.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// Words x [T, d] and weights [d, d], one number: attention, a norm, a product.
Tensor score(const Tensor& x, const Tensor& w) {
  const Tensor h = unsqueeze(layer_norm(linear(x, w), {}, {}), 0);
  return sum(square(scaled_dot_product_attention(h, h, h, {.causal = true})));
}

TEST(Vmap, EqualsALoop) {
  const Tensor x = random({6, 5, 4}, 1), w = random({4, 4}, 2);
  const auto f = [](const std::vector<Tensor>& in) { return score(in[0], in[1]); };
  const Tensor y = vmap(f, {x, w}, {0, unmapped});
  ASSERT_EQ(y.shape(), (Shape{6}));
  for (std::int64_t i = 0; i < 6; ++i)
    EXPECT_NEAR(at(y, {i}).item(), score(select(x, 0, i), w).item(), 1e-12);
}

TEST(Vmap, TakesExamplesFromAnyAxisAndGivesSeveralResults) {
  const Tensor x = random({2, 3}, 1);
  const auto f = [](const std::vector<Tensor>& in) { return std::vector{2 * in[0], sum(in[0])}; };
  const std::vector<Tensor> y = vmap(f, {x}, {-1});
  EXPECT_TRUE(all_close(y[0], 2 * transpose(x)));
  EXPECT_TRUE(all_close(y[1], sum(x, 0)));
}

TEST(Vmap, RepeatsWhatDependsOnNoExample) {
  const auto f = [](const std::vector<Tensor>&) { return arange(2, 4); };
  EXPECT_EQ(vmap(f, {ones({3})}).to_vector<int>(), (std::vector<int>{2, 3, 2, 3, 2, 3}));
}

TEST(Vmap, OfNoExampleHasTheShapesOfAny) {
  const auto f = [](const std::vector<Tensor>& in) { return layer_norm(in[0], {}, {}); };
  EXPECT_EQ(vmap(f, {zeros({0, 4})}).shape(), (Shape{0, 4}));
  const auto pooled = [](const std::vector<Tensor>& in) { return max_pooling(in[0], {2}); };
  EXPECT_EQ(vmap(pooled, {zeros({0, 1, 6, 2})}).shape(), (Shape{0, 1, 3, 2}));
}

TEST(Vmap, GradientsFlowThroughIt) {
  const Tensor x = random({6, 5, 4}, 1).set_requires_grad(),
               w = random({4, 4}, 2).set_requires_grad();
  const auto f = [&](const std::vector<Tensor>& in) { return score(in[0], w); };
  backward(sum(vmap(f, {x})));
  Tensor loss = scalar(0, f64);
  const Tensor same = x.detach().set_requires_grad(), weight = w.detach().set_requires_grad();
  for (std::int64_t i = 0; i < 6; ++i) loss = loss + score(select(same, 0, i), weight);
  backward(loss);
  EXPECT_TRUE(all_close(x.grad(), same.grad(), 1e-10, 1e-12));
  EXPECT_TRUE(all_close(w.grad(), weight.grad(), 1e-10, 1e-12));
}

TEST(Vmap, TakesDerivativesInside) {
  const Tensor x = random({6, 5, 4}, 1), w = random({4, 4}, 2), t = random({6, 5, 4}, 3);
  const auto directional = [&](const std::vector<Tensor>& in) {
    const auto f = [&](const std::vector<Tensor>& one) { return score(one[0], w); };
    return jvp(f, {in[0]}, {in[1]}).tangent;
  };
  const auto gradient = [&](const std::vector<Tensor>& in) {
    const Tensor leaf = in[0].detach().set_requires_grad();
    return grad(score(leaf, w), leaf);
  };
  const Tensor forward = vmap(directional, {x, t});
  const Tensor reverse = sum(reshape(vmap(gradient, {x}) * t, {6, 20}), 1);
  EXPECT_TRUE(all_close(forward, reverse, 1e-10, 1e-12));
}

TEST(Vmap, CarriesTangentsFromOutside) {
  const Tensor x = random({6, 5, 4}, 1), w = random({4, 4}, 2), u = random({4, 4}, 3);
  const auto f = [](const std::vector<Tensor>& in) { return score(in[0], in[1]); };
  const auto mapped = [&](const std::vector<Tensor>& in) {
    return sum(vmap(f, {in[0], in[1]}, {0, unmapped}));
  };
  const double forward = jvp(mapped, {x, w}, {zeros_like(x), u}).tangent.item();
  const double reverse = sum(vjp(mapped, {x, w}, scalar(1, f64)).gradients[1] * u).item();
  EXPECT_NEAR(forward, reverse, 1e-9);
}

TEST(Vmap, RefusesWhatItCannotMap) {
  const Tensor x = random({3, 2}, 1);
  const auto refuses = [&](const TensorFunction& f, const std::string& why) {
    expect_error([&] { vmap(f, {x}); }, why);
  };
  refuses([](const auto& in) { return in[0] * sum(in[0]).item(); }, "[vmap]");
  refuses([](const auto& in) { return masked_select(in[0], in[0] > 0); }, "[vmap]");
  refuses(
      [](const auto& in) {
        Generator rng(1);
        return in[0] + normal({2}, rng);
      },
      "vmap");
  refuses([&](const auto& in) { return vmap([](const auto& y) { return y[0]; }, in); },
          "does not nest");
  const Tensor all = zeros({2}, f64);
  refuses(
      [&](const auto& in) {
        copy_(all, in[0]);
        return all;
      },
      "shared by all");
  const Tensor w = random({2}, 2).set_requires_grad();
  refuses(
      [&](const auto& in) {
        backward(sum(in[0] * w));
        return in[0];
      },
      "take it by grad()");
  EXPECT_FALSE(w.grad().defined());
  expect_error([&] { vmap([](const auto& in) { return in[0]; }, {x}, {unmapped}); },
               "none of the 1");
  expect_error([&] { vmap([](const auto& in) { return in[0]; }, {x}, {2}); }, "axis 2");
  expect_error(
      [&] {
        vmap([](const auto& in) { return in[0] + in[1]; }, {x, ones({4})});
      },
      "has 4 examples");
  Tensor leaked;
  vmap([&](const auto& in) { return leaked = in[0]; }, {x});
  expect_error([&] { leaked.to_vector(); }, "vmap");
}

TEST(PerExample, GradientsEqualALoop) {
  const Tensor x = random({6, 5, 4}, 1), w = random({4, 4}, 2).set_requires_grad(),
               table = random({3, 4}, 5).set_requires_grad(),
               unused = ones({2}).set_requires_grad();
  const Tensor words = tensor({0, 2, 1, 1, 0, 2}, {6, 1}, i64);
  const auto loss = [&](const std::vector<Tensor>& in) {
    return score(in[0] + embedding(table, in[1]), w);
  };
  const std::vector<Tensor> g = per_example_gradients(loss, {x, words}, {w, table, unused});
  EXPECT_EQ(g[0].shape(), (Shape{6, 4, 4}));
  EXPECT_EQ(g[2].to_vector(), std::vector<double>(12, 0));
  for (std::int64_t i = 0; i < 6; ++i) {
    const std::vector<Tensor> one =
        grad({loss({select(x, 0, i), select(words, 0, i)})}, {w, table});
    EXPECT_TRUE(all_close(select(g[0], 0, i), one[0], 1e-10, 1e-12)) << i;
    EXPECT_TRUE(all_close(select(g[1], 0, i), one[1], 1e-10, 1e-12)) << i;
  }
}

TEST(PerExample, GradientsOfAClassifier) {
  const Tensor x = random({4, 3}, 1), w = random({5, 3}, 2).set_requires_grad();
  const Tensor labels = tensor({0, 4, -100, 2}, i64);  // the third takes no part
  const auto loss = [&](const std::vector<Tensor>& in) {
    return cross_entropy(linear(in[0], w), in[1]);
  };
  const Tensor g = per_example_gradients(loss, {x, labels}, {w})[0];
  // (softmax − one-hot)·xᵀ
  const Tensor p = softmax(linear(x, w.detach()), -1);
  const Tensor hit = one_hot(clamp(labels, 0, 4), 5, f64);
  const Tensor want = unsqueeze(p - hit, 2) * unsqueeze(x, 1);
  for (const std::int64_t i : {0, 1, 3})
    EXPECT_TRUE(all_close(select(g, 0, i), select(want, 0, i), 1e-10, 1e-12)) << i;
  EXPECT_EQ(sum(abs(select(g, 0, 2))).item(), 0);
}

}  // namespace
}  // namespace ladon::test
