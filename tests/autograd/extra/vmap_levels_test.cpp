// Several calls of vmap: nested calls, tensors of a call that has ended, and backward passes inside
// vmap.

#include "ladon/autograd/extra/distributions/discrete.h"
#include "ladon/autograd/extra/distributions/normal.h"
#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/levels.h"
#include "ladon/core/mapped.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::vmap_levels_test {
namespace {

using mapped::Level;
using mapped::Levels;

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// f(c[0]), f(c[1]), …, one under the other.
Tensor loop(const Tensor& c, const std::function<Tensor(const Tensor&)>& f) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < c.size(0); ++i) rows.push_back(f(select(c, 0, i)));
  return stack(rows, 0);
}
Tensor map(const Tensor& c, const std::function<Tensor(const Tensor&)>& f) {
  return vmap([&](const std::vector<Tensor>& in) { return f(in[0]); }, {c});
}
void expect_maps(const Tensor& c, const std::function<Tensor(const Tensor&)>& f) {
  const Tensor got = map(c, f), want = loop(c, f);
  ASSERT_EQ(got.shape(), want.shape());
  EXPECT_TRUE(all_close(got, want, 1e-10, 1e-12));
}

TEST(Levels, AreSetsInTheOrderOfTheirCalls) {
  const Level a = mapped::new_level(2), b = mapped::new_level(3), c = mapped::new_level(5);
  const Levels outer({a, b}), inner({c}), ends = Levels({c}).with(Levels({a}));
  EXPECT_EQ(Levels().examples(), -1);
  EXPECT_EQ(outer.examples(), 6);
  EXPECT_EQ(inner.with(outer), Levels({a, b, c}));
  EXPECT_EQ(ends, Levels({a, c}));
  EXPECT_TRUE(outer.contains(Levels()) && outer.contains(a) && !outer.contains(c));
  EXPECT_FALSE(outer.contains(ends) || ends.contains(outer));
  EXPECT_EQ(ends.without(a), inner);
  EXPECT_TRUE(inner.without(c).none());
  EXPECT_FALSE(inner == Levels({mapped::new_level(5)}));
}

// [2, 3, 5] examples of an outer, a middle and an inner call, of which a tensor has some.
TEST(Levels, OfATensorAreRepeatedMergedAndDividedInAnyOrder) {
  const Level a = mapped::new_level(2), b = mapped::new_level(3), c = mapped::new_level(5);
  const Tensor x = random({2, 3, 5, 4}, 1);
  const Tensor by_a = mapped::merge(select(select(x, 1, 0), 1, 0).detach(), a);
  const Tensor by_ac = mapped::merge(mapped::merge(permute(select(x, 1, 0), {1, 0, 2}).detach(), c),
                                     a);  // c stands first
  EXPECT_EQ(by_ac.levels(), Levels({a, c}));
  const Tensor all = mapped::show(mapped::repeat(by_ac, Levels({a, b, c})));
  const Tensor want = expand(slice(x, 1, {.stop = 1}), {2, 3, 5, 4});
  EXPECT_TRUE(all_equal(reshape(all, {2, 3, 5, 4}), want));
  EXPECT_TRUE(all_equal(mapped::show(mapped::divide(by_ac, a)),
                        reshape(permute(select(x, 1, 0), {1, 0, 2}), {5, 2, 4})));
  const Tensor shown = mapped::show(mapped::repeat(by_a, Levels({a, b, c})));
  EXPECT_TRUE(all_equal(reshape(shown, {2, 3, 5, 4}),
                        expand(slice(slice(x, 1, {.stop = 1}), 2, {.stop = 1}), {2, 3, 5, 4})));
}

// Gradients into a graph that holds an earlier call: of as many examples, of more, of fewer, of
// one.
TEST(Levels, OfACallThatHasEndedAreNotThoseOfThisOne) {
  const Tensor x = random({3, 4}, 1), w = random({4}, 2).set_requires_grad();
  const auto earlier = [&] { return map(x, [&](const Tensor& one) { return sum(sin(one * w)); }); };
  const Tensor y = earlier();  // [3]
  const Tensor loss = sum(square(y));
  for (const std::int64_t n : {1, 2, 3, 6, 9}) {
    SCOPED_TRACE(n);
    const Tensor c = random({n}, 3), cotangents = random({n, 3}, 4);
    expect_maps(c, [&](const Tensor& one) { return one * grad(loss, w, {.retain_graph = true}); });
    expect_maps(cotangents, [&](const Tensor& one) {
      return grad({y}, {w}, {.cotangents = {one}, .retain_graph = true})[0];
    });
    expect_maps(c, [&](const Tensor& one) {  // and of that, the derivative
      const Tensor g = grad(sum(square(y)) * one, w, {.retain_graph = true, .create_graph = true});
      return grad(sum(exp(g * one)), w, {.retain_graph = true});
    });
    expect_maps(c, [&](const Tensor& one) {  // the earlier call's examples meet this one's
      const auto f = [&](const std::vector<Tensor>& at) { return sum(square(at[0] * one)); };
      return jvp(f, {earlier()}, {ones({3}, f64)}).tangent;
    });
  }
}

// ∂/∂w of each example's own loss through h = x·w, which was computed for all of them before.
TEST(Levels, GradientsThroughAMappedInputAreEachExamplesOwn) {
  const Tensor x = random({3, 4}, 1), w = random({4}, 2).set_requires_grad();
  const Tensor h = x * w;
  expect_maps(
      h, [&](const Tensor& one) { return grad(sum(square(one) * w), w, {.retain_graph = true}); });
  expect_maps(h, [&](const Tensor& one) {
    const Tensor g = grad(sum(exp(one)), w, {.retain_graph = true, .create_graph = true});
    return grad(sum(square(g)), w, {.retain_graph = true});
  });
  const Tensor pairs = random({2, 3, 4}, 3) * w;
  expect_maps(pairs, [&](const Tensor& outer) {
    return map(outer, [&](const Tensor& one) {
      return grad(sum(square(one)), w, {.retain_graph = true});
    });
  });
}

Tensor norm_of_each(const Tensor& g) {
  return map(g, [](const Tensor& one) { return one * sum(square(one)); });
}

// A sweep after the call: rules and hooks that map themselves.
TEST(Levels, OfARuleThatMapsAreThoseOfTheCallItWasRecordedIn) {
  const CustomFunction f{
      "cubed", [](const auto& in) { return in[0] * in[0] * in[0]; },
      [](const Tensor& g, const auto& in, const Tensor&) {
        return std::vector{g * map(in[0], [](const Tensor& one) { return 3 * square(one); })};
      }};
  const Tensor x = random({3, 4}, 1).set_requires_grad(), c = random({5}, 2);
  const auto of_one = [&](const Tensor& one) { return sum(f({one})); };
  EXPECT_TRUE(all_close(grad(sum(map(x, of_one)), x), 3 * square(x), 1e-12, 1e-14));
  const auto hooked = [&](const Tensor& one) {
    const Tensor y = one * 2;
    register_hook(y, norm_of_each);
    return sum(square(y));
  };
  const Tensor g = 4 * x.detach();
  EXPECT_TRUE(all_close(grad(sum(map(x, hooked)), x), 2 * g * square(g), 1e-12, 1e-12));
  const Tensor of_all = sum(map(x, of_one));  // swept inside a call that has as many examples
  const Tensor c3 = random({3}, 3);
  expect_maps(c3, [&](const Tensor& one) { return one * grad(of_all, x, {.retain_graph = true}); });
}

// Each example's own numbers, in a gradient that is computed after the call.
TEST(Levels, OfARuleThatDrawsAreThoseOfTheCallItWasRecordedIn) {
  Generator rng(3), for_hook(4);
  const CustomFunction noisy{"noisy", [](const auto& in) { return in[0] + 0; },
                             [&](const Tensor& g, const auto&, const Tensor&) {
                               return std::vector{g * normal(g.shape(), rng, 0, 1, f64)};
                             }};
  const Tensor x = zeros({4, 3}, f64).set_requires_grad();
  const Tensor by_rule = grad(sum(map(x, [&](const Tensor& one) { return sum(noisy({one})); })), x);
  const Tensor by_hook = grad(sum(map(x,
                                      [&](const Tensor& one) {
                                        const Tensor y = one + 0;
                                        register_hook(y, [&](const Tensor& g) {
                                          return g * normal(g.shape(), for_hook, 0, 1, f64);
                                        });
                                        return sum(y);
                                      })),
                              x);
  for (const auto& [got, seed] : {std::pair{by_rule, 3}, std::pair{by_hook, 4}}) {
    Generator same(static_cast<std::uint64_t>(seed));
    const Generator source = same.split(same.reserve(1));
    for (std::int64_t i = 0; i < 4; ++i) {
      Generator own = source.split(static_cast<std::uint64_t>(i));
      EXPECT_TRUE(all_equal(select(got, 0, i), normal({3}, own, 0, 1, f64)));
    }
  }
}

// Results of a rule or a hook are each example's, whether it depends on the example or not, and
// whichever operand has examples.
TEST(Levels, OfARuleAreSummedWhereAnOperandLacksThem) {
  const CustomFunction product{"product", [](const auto& in) { return in[0] * in[1]; },
                               [](const Tensor& g, const auto& in, const Tensor&) {
                                 return std::vector{g * in[1], g * in[0]};
                               }};
  const CustomFunction sum_of_two{"sum_of_two", [](const auto& in) { return in[0] + in[1]; },
                                  [](const Tensor& g, const auto&, const Tensor&) {
                                    return std::vector{ones_like(g), ones_like(g)};
                                  }};
  const Tensor x = random({3, 2}, 1), w = random({2}, 2).set_requires_grad(), c = random({3}, 3);
  const Tensor u = 1 * w;
  const Tensor y = sum(map(x, [&](const Tensor& one) { return sum(product({u, one})); })) + sum(u);
  EXPECT_TRUE(all_close(grad(y, w, {.retain_graph = true}), sum(x, 0) + 1, 1e-12, 1e-14));
  expect_maps(c, [&](const Tensor& one) { return one * grad(y, w, {.retain_graph = true}); });
  const Tensor z = map(x, [&](const Tensor& one) { return sum(sum_of_two({w, one})); });
  EXPECT_TRUE(all_equal(grad(sum(z), w), 3 * ones({2}, f64)));
  const auto constant = [&](const Tensor& one) {
    const Tensor h = w + one;
    register_hook(h, [](const Tensor& g) { return ones_like(g); });
    return sum(h);
  };
  EXPECT_TRUE(all_equal(grad(sum(map(x, constant)), w), 3 * ones({2}, f64)));
  const auto of_fewer = [&](const Tensor& one) {
    const Tensor h = w * 2, other = one;
    register_hook(h, [other](const Tensor& g) { return g * other; });
    return sum(h * one);
  };
  expect_error([&] { grad(sum(map(x, of_fewer)), w); }, "the same for all of them");
}

// A dual number inside, opened outside: its tangent alone has examples, also where it is
// differentiated after the call.
TEST(Levels, OfATangentAloneAreSummedWithIt) {
  const Tensor w = random({4}, 1).set_requires_grad(), v = random({3, 4}, 2);
  const Tensor y =
      map(v, [&](const Tensor& one) { return sum(exp(sin(make_dual(w, one)))); });  // [3]
  const Tensor g = grad(sum(y), w, {.create_graph = true});
  const auto f = [](const Tensor& at) { return sum(exp(sin(at))); };
  EXPECT_TRUE(all_close(g, 3 * grad(f(w), w), 1e-12, 1e-14));
  EXPECT_TRUE(all_close(unpack_dual(g).tangent, hvp(f, w.detach(), sum(v, 0)), 1e-12, 1e-14));
}

TEST(Levels, OfNoExampleAndOfManyAxesAreRight) {
  const auto loss = [](const std::vector<Tensor>& in) { return cross_entropy(in[0], in[1]); };
  EXPECT_EQ(vmap(loss, {zeros({0, 2, 3}, f64), zeros({0, 2}, i64)}).shape(), (Shape{0}));
  const Tensor q = zeros({0, 2, 3, 4}, f64).set_requires_grad();
  const auto attend = [](const Tensor& one) {
    return sum(scaled_dot_product_attention(one, one, one));
  };
  EXPECT_EQ(grad(sum(map(q, attend)), q).shape(), q.shape());
  const Tensor own = map(random({3, 2}, 1), [](const Tensor& one) {
    Tensor leaf = one.detach().set_requires_grad();
    backward(sum(leaf));
    return leaf.grad();
  });
  EXPECT_TRUE(all_equal(own, ones({3, 2}, f64)));
  const Tensor w = random({2, 1, 2, 1, 1, 2}, 2).set_requires_grad(), a = random({2}, 3);
  const auto twice = [&](const Tensor& s) {
    return map(a, [&](const Tensor& t) { return sum(square(w) * s * t); });
  };
  const Tensor sums = grad(sum(map(a, twice)), w);
  EXPECT_TRUE(all_close(sums, 2 * w * square(sum(a)), 1e-12, 1e-14));
  Generator rng(4), same(4);
  const Tensor scale = exp(random({3, 2}, 5));
  const Tensor drawn =
      map(scale, [&](const Tensor& s) { return Normal(zeros({2}, f64), s).sample({}, rng); });
  const Generator source = same.split(same.reserve(1));
  Generator first = source.split(0);
  EXPECT_TRUE(all_close(select(drawn, 0, 0),
                        Normal(zeros({2}, f64), select(scale, 0, 0)).sample({}, first)));
}

TEST(Levels, OfATangentAloneAreListedToo) {
  const Tensor t = random({3, 4}, 1), x = random({4}, 2);
  const auto mapped = [&](const std::vector<Tensor>& in) {  // of in, [4], the same for all
    return vmap([&](const auto&) { return sin(in[0]); }, {t});
  };
  EXPECT_TRUE(all_close(jvp(mapped, {x}, {ones({4}, f64)}).tangent, expand(cos(x), {3, 4})));
  const auto along = [&](const std::vector<Tensor>& one) {
    return jvp([](const auto& in) { return sin(in[0]); }, {x}, {one[0]}).tangent;
  };
  EXPECT_TRUE(all_close(vmap(along, {t}), t * cos(x)));
  Tensor dual;  // its value is the same for all
  const auto open = [&](const std::vector<Tensor>& one) { return sin(make_dual(x, one[0])); };
  const auto [primal, tangent] = unpack_dual(vmap(open, {t}));
  EXPECT_TRUE(all_close(primal, expand(sin(x), {3, 4})));
  ASSERT_TRUE(tangent.defined());
  EXPECT_EQ(tangent.to_vector(), (t * cos(x)).to_vector());
}

TEST(Levels, OfAClassAreDrawnEach) {
  Generator rng(5), same(5);
  const Tensor weights = exp(random({4, 6}, 1)), shared = exp(random({6}, 2));
  const auto draw = [&](const Tensor& w, Generator& g) {
    return concat({multinomial(w, 3, g), multinomial(shared, 2, g, true),
                   Categorical(log(w)).sample({4}, g), Categorical(log(shared)).sample({4}, g)},
                  0);
  };
  const Tensor got = map(weights, [&](const Tensor& w) { return draw(w, rng); });
  std::vector<Generator> sources;
  for (int k = 0; k < 4; ++k) sources.push_back(same.split(same.reserve(1)));
  for (std::int64_t i = 0; i < 4; ++i) {
    const Tensor w = select(weights, 0, i);
    std::vector<Generator> own;
    for (const Generator& source : sources)
      own.push_back(source.split(static_cast<std::uint64_t>(i)));
    const Tensor want = concat(
        {multinomial(w, 3, own[0]), multinomial(shared, 2, own[1], true),
         Categorical(log(w)).sample({4}, own[2]), Categorical(log(shared)).sample({4}, own[3])},
        0);
    EXPECT_TRUE(all_equal(select(got, 0, i), want)) << i;
  }
  expect_error([&] { map(-weights, [&](const Tensor& w) { return multinomial(w, 3, rng); }); },
               "a weight is negative");
}

TEST(Levels, AreRefusedWhereATensorCannotHoldThem) {
  for (const std::int64_t inner : {1, 2}) {  // an element of the inner call, which the outer shares
    const Tensor y = random({inner, 2}, 1);
    const auto edit = [&](const Tensor& of_outer) {
      return map(y, [&](const Tensor& one) {
        Tensor room = one.detach();
        copy_(room, of_outer);
        return room;
      });
    };
    expect_error([&] { map(random({2, 2}, 2), edit); }, "is shared by all examples");
  }
  expect_error(
      [&] {
        Generator rng(1);
        map(ones({3}), [&](const Tensor&) { return normal({-1}, rng); });
      },
      "[normal]");
}

}  // namespace
}  // namespace ladon::test::vmap_levels_test
