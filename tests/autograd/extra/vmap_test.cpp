// vmap for compositions of operations; the table of operations covers single operations.

#include "ladon/autograd/extra/transforms/vmap.h"

#include <cmath>

#include "ladon/autograd/extra/distributions/gamma.h"
#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::vmap_test {
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
  const auto pooled = [](const std::vector<Tensor>& in) { return max_pool(in[0], {2}); };
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

TEST(Vmap, NestsInTwoLoops) {
  const Tensor x = random({3, 5, 4}, 1), y = random({6, 5, 4}, 2), w = random({4, 4}, 3);
  const auto pair = [&](const Tensor& a, const Tensor& b) { return score(a * b + a, w); };
  const auto all = [&](const std::vector<Tensor>& outer) {
    return vmap([&](const auto& inner) { return pair(outer[0], inner[0]); }, {y});
  };
  const Tensor got = vmap(all, {x});
  ASSERT_EQ(got.shape(), (Shape{3, 6}));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 6; ++j)
      EXPECT_NEAR(select(select(got, 0, i), 0, j).item(),
                  pair(select(x, 0, i), select(y, 0, j)).item(), 1e-12);
}

// The Hessian of each example, by unit directions that two vmaps give: entry (i, j) is that of jvp
// in jvp.
TEST(Vmap, OfForwardModeTwiceGivesHessians) {
  const Tensor x = random({3, 4}, 1), units = eye(4, f64);
  const auto f = [](const std::vector<Tensor>& in) {
    return sum(exp(sin(in[0])) * cumsum(in[0], 0));
  };
  const auto hessian = [&](const std::vector<Tensor>& at) {
    const auto rows = [&](const std::vector<Tensor>& u) {
      const auto entries = [&](const std::vector<Tensor>& v) {
        const auto along_u = [&](const auto& in) { return jvp(f, in, {u[0]}).tangent; };
        return jvp(along_u, at, {v[0]}).tangent;
      };
      return vmap(entries, {units});
    };
    return vmap(rows, {units});
  };
  const Tensor got = vmap(hessian, {x});  // [3, 4, 4]
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto one = [&](const Tensor& at) { return f({at}); };
      const Tensor want = hvp(one, select(x, 0, n), select(units, 0, i));
      EXPECT_TRUE(all_close(select(select(got, 0, n), 0, i), want, 1e-10, 1e-12));
    }
}

// A gradient inside the inner vmap is one for each of all examples, inside the outer one alone of
// each of its.
TEST(Vmap, SumsGradientsOverTheExamplesThatAreNotMappedNow) {
  const Tensor x = random({2, 3, 4}, 1), w = random({2, 4}, 2);
  const auto loss = [](const Tensor& a, const Tensor& b) { return sum(tanh(a * b) * b); };
  const auto within = [&](const std::vector<Tensor>& outer) {
    return vmap(
        [&](const std::vector<Tensor>& inner) {
          const Tensor leaf = outer[1].detach().set_requires_grad();
          return grad(loss(inner[0], leaf), leaf);
        },
        {outer[0]});
  };
  const auto around = [&](const std::vector<Tensor>& outer) {
    const Tensor leaf = outer[1].detach().set_requires_grad();
    return grad(sum(vmap([&](const auto& inner) { return loss(inner[0], leaf); }, {outer[0]})),
                leaf);
  };
  const Tensor each = vmap(within, {x, w}), sums = vmap(around, {x, w});
  ASSERT_EQ(each.shape(), (Shape{2, 3, 4}));
  EXPECT_TRUE(all_close(sum(each, 1), sums, 1e-12, 1e-14));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const Tensor leaf = select(w, 0, i).detach().set_requires_grad();
      const Tensor want = grad(loss(select(select(x, 0, i), 0, j), leaf), leaf);
      EXPECT_TRUE(all_close(select(select(each, 0, i), 0, j), want, 1e-12, 1e-14));
    }
}

TEST(Vmap, NestsOfNoExampleHaveTheShapesOfAny) {
  for (const auto& [outer, inner] : std::vector<std::pair<int, int>>{{0, 3}, {2, 0}, {0, 0}}) {
    const Tensor x = zeros({outer, inner, 4}, f64).set_requires_grad(),
                 w = ones({4}, f64).set_requires_grad();
    const auto f = [&](const auto& one) { return sum(one[0] * w); };
    const Tensor y = vmap([&](const auto& one) { return vmap(f, one); }, {x});
    EXPECT_EQ(y.shape(), (Shape{outer, inner}));
    backward(sum(y));
    EXPECT_TRUE(all_equal(w.grad(), zeros({4}, f64)));
  }
}

// Each example has the numbers of its own split, in one vmap and in two, of whatever draws a
// tensor.
TEST(Vmap, DrawsOfEachExampleAreItsOwn) {
  const Tensor x = random({5, 3}, 1), alpha = exp(x);
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&, Generator&)>>> all =
      {{"uniform", [](const Tensor&, Generator& g) { return uniform({7}, g, -1, 2, f64); }},
       {"normal",
        [](const Tensor& at, Generator& g) {
          return at + normal({2, 3}, g, 0, 1, f64);
        }},
       {"truncated", [](const Tensor&, Generator& g) { return truncated_normal({4}, g); }},
       {"bernoulli", [](const Tensor&, Generator& g) { return bernoulli({40}, g, 0.5); }},
       {"randint", [](const Tensor&, Generator& g) { return randint({9}, g, 0, 1000); }},
       {"permutation", [](const Tensor&, Generator& g) { return permutation(8, g); }},
       {"dropout", [](const Tensor& at, Generator& g) { return dropout(at, 0.5, g); }},
       {"gamma", [](const Tensor& at, Generator& g) {
          return at + Gamma(2 * ones({3}, f64), ones({3}, f64)).rsample({}, g);
        }}};
  for (const auto& row : all) {
    SCOPED_TRACE(row.first);
    const auto& draw = row.second;
    Generator rng(7), again(7), by_loop(7);
    const auto once = [&](const auto& in) { return draw(in[0], rng); };
    const Tensor got = vmap(once, {x});
    const Generator source = by_loop.split(by_loop.reserve(1));
    std::vector<Tensor> want;
    for (std::int64_t i = 0; i < 5; ++i) {
      Generator own = source.split(static_cast<std::uint64_t>(i));
      want.push_back(draw(select(x, 0, i), own));
    }
    EXPECT_TRUE(all_equal(got, stack(want, 0)));
    EXPECT_EQ(rng.position(), by_loop.position());

    const auto twice = [&](const auto& in) {  // 2 × 5 of them, the same 5 first
      return vmap([&](const auto& one) { return draw(one[0], again); }, {in[0]});
    };
    const Tensor nested = vmap(twice, {stack({x, x}, 0)});
    EXPECT_TRUE(all_equal(select(nested, 0, 0), got));
    EXPECT_FALSE(all_equal(select(nested, 0, 1), got));
  }
}

TEST(Vmap, DrawsFollowTheirLaw) {
  Generator rng(3);
  const auto draw = [&](const std::vector<Tensor>& in) {
    return in[0] + normal({50}, rng, 0, 1, f64);
  };
  const Tensor z = vmap(draw, {zeros({400}, f64)});  // [400, 50]
  const double n = 20000;
  EXPECT_LT(std::abs(mean(z).item()), 4 / std::sqrt(n));
  EXPECT_LT(std::abs(mean(square(z)).item() - 1), 4 * std::sqrt(2 / n));
  // Two examples are independent: products of neighbours have mean 0 and variance 1.
  const Tensor products = slice(z, 0, {.stop = 399}) * slice(z, 0, {.start = 1});
  EXPECT_LT(std::abs(mean(products).item()), 4 / std::sqrt(399 * 50.0));
}

TEST(Vmap, DrawsGoThroughCheckpoints) {
  const Tensor x = random({4, 6}, 1).set_requires_grad();
  Generator rng(5), same(5);
  const auto run = [&](Generator& g, bool keep) {
    const auto f = [&](const std::vector<Tensor>& in) { return exp(dropout(in[0], 0.5, g)); };
    return vmap([&](const auto& in) { return keep ? f(in) : checkpoint(f, in); }, {x});
  };
  const Tensor kept = grad(sum(run(rng, true)), x), again = grad(sum(run(same, false)), x);
  EXPECT_TRUE(all_equal(kept, again));
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
        return in[0] + rng.normal();
      },
      "vmap");
  const Tensor all = zeros({2}, f64);
  refuses(
      [&](const auto& in) {
        copy_(all, in[0]);
        return all;
      },
      "shared by all examples");
  Tensor leaked;
  vmap([&](const auto& in) { return leaked = in[0]; }, {random({5, 2}, 1)});
  refuses([&](const auto&) { return leaked; }, "another call of vmap, which has ended");
  refuses(
      [&](const auto& in) {
        vmap([&](const auto& inner) { return leaked = inner[0]; }, {random({4, 2}, 1)});
        return in[0] * leaked;
      },
      "examples of another call of vmap");
  refuses(
      [&](const auto& in) {
        const Tensor leaf = in[0].detach().set_requires_grad();
        const auto step = [&](const auto& inner) {
          backward(sum(inner[0] * leaf));
          return inner[0];
        };
        return sum(vmap(step, {random({4, 2}, 1)}), 0);
      },
      "take it by grad()");
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

// Of Σ_i z_i·Σ_k a_k³ by a, summed over i and k: 3·Σz·Σ_k a_k², whose derivatives are known.
TEST(PerExample, GradientsNestInOtherDerivatives) {
  const Tensor z = tensor({1, 2, -0.5}, f64), t = tensor({0.5, -1}, f64);
  const Tensor a = tensor({1.5, 2}, f64).set_requires_grad();
  const auto total = [&](const Tensor& p) {
    const auto loss = [&](const std::vector<Tensor>& one) { return sum(p * p * p) * one[0]; };
    return sum(per_example_gradients(loss, {z}, {p})[0]);
  };
  const auto f = [&](const std::vector<Tensor>& in) { return total(in[0]); };
  const double zs = 2.5;
  EXPECT_NEAR(total(a).item(), 3 * zs * (1.5 * 1.5 + 4), 1e-12);
  const Tensor want = 6 * zs * a.detach();  // by a
  EXPECT_TRUE(all_close(grad(total(a), a), want, 1e-12));
  EXPECT_TRUE(all_close(vjp(f, {a.detach()}, scalar(1, f64)).gradients[0], want, 1e-12));
  EXPECT_NEAR(jvp(f, {a}, {t}).tangent.item(), sum(want * t).item(), 1e-11);
  EXPECT_TRUE(all_close(hvp(total, a.detach(), t), 6 * zs * t, 1e-12));
  EXPECT_TRUE(all_close(jacobian(f, {a})[0], want, 1e-12));
  EXPECT_NO_THROW(gradcheck(f, {a}));
  EXPECT_NO_THROW(gradgradcheck(f, {a}));
  const Tensor rows = stack({a, 2 * a}, 0);  // requires a gradient
  const Tensor each = vmap(f, {rows});
  EXPECT_NEAR(select(each, 0, 1).item(), 4 * total(a).item(), 1e-11);
  EXPECT_TRUE(all_close(grad(sum(each), a), 5 * want, 1e-12));  // 1 + 2² times
  const auto of_vjp = [&](const std::vector<Tensor>& in) {
    return sum(vjp(f, {in[0]}, scalar(1, f64)).gradients[0]);
  };
  EXPECT_TRUE(all_close(vmap(of_vjp, {rows.detach()}), tensor({52.5, 105}, f64), 1e-12));
  const NoGrad off;
  EXPECT_FALSE(total(a).requires_grad());
}

TEST(PerExample, GradientsAreByWhatCanHaveThem) {
  const Tensor x = random({3, 2}, 1), plain = random({2}, 2);
  Tensor frozen = random({2}, 3).set_requires_grad();
  const Tensor inner = random({2}, 4).set_requires_grad() * 2;
  const auto by = [&](const Tensor& w) {
    return per_example_gradients(
        [&](const std::vector<Tensor>& one) { return sum(one[0] * w * w); }, {x}, {w})[0];
  };
  EXPECT_TRUE(all_close(by(inner), 2 * x * inner, 1e-12));
  frozen.set_requires_grad(false);
  expect_error([&] { by(frozen); }, "parameter 0 (shape [2]) is frozen; call thaw() on its module");
  expect_error([&] { by(plain); }, "parameter 0 (shape [2]) does not require a gradient");
  expect_error([&] { by(Tensor()); }, "undefined");
  const auto f = [&](const std::vector<Tensor>& in) { return by(in[0]); };
  expect_error([&] { jvp(f, {plain}, {plain}); }, "use vmap of vjp");
  expect_error([&] { vmap(f, {x}); }, "use vmap of vjp");
  // The cure.
  const auto cured = [&](const std::vector<Tensor>& in) {
    const auto one = [&](const std::vector<Tensor>& example) {
      const auto loss = [&](const std::vector<Tensor>& w) { return sum(example[0] * w[0] * w[0]); };
      return vjp(loss, {in[0]}, scalar(1, f64)).gradients[0];
    };
    return vmap(one, {x});
  };
  EXPECT_TRUE(all_close(jvp(cured, {plain}, {plain}).tangent, 2 * x * plain, 1e-12));
  EXPECT_TRUE(all_close(select(vmap(cured, {x}), 0, 1), 2 * x * select(x, 0, 1), 1e-12));
}

}  // namespace
}  // namespace ladon::test::vmap_test
