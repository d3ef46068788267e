// Properties of attention that hold for any inputs. Shapes in these tests are larger than a tile of
// the fused kernel, and not multiples of a tile.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::attention_test {
namespace {

struct Qkv {
  Tensor q, k, v;
};

struct Sizes {
  std::int64_t batch = 2, heads = 4, shared = 4, queries = 131, keys = 150, width = 24, values = 40;
};

Tensor draw(const Shape& shape, std::uint64_t seed, DType dtype = f64) {
  Generator rng(seed);
  return cast(normal(shape, rng), dtype);  // the same numbers in both dtypes
}

Qkv inputs(const Sizes& s, DType dtype = f64) {
  return {draw({s.batch, s.heads, s.queries, s.width}, 1, dtype),
          draw({s.batch, s.shared, s.keys, s.width}, 2, dtype),
          draw({s.batch, s.shared, s.keys, s.values}, 3, dtype)};
}

/// Output and gradients, by q, k and v, of ⟨c, output⟩ for a fixed c.
struct Results {
  Tensor output;
  std::vector<Tensor> gradients;
};
template <class F>
Results results(Qkv x, const F& f, bool create_graph = false) {
  for (Tensor* t : {&x.q, &x.k, &x.v}) *t = t->detach().set_requires_grad();
  const Tensor y = f(x.q, x.k, x.v);
  const Tensor c = draw(y.shape(), 4, y.dtype());
  return {y.detach(),
          grad({y}, {x.q, x.k, x.v}, {.cotangents = {c}, .create_graph = create_graph})};
}
Results fused(const Qkv& x, const AttentionOptions& o, bool create_graph = false) {
  const auto f = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, k, v, o);
  };
  return results(x, f, create_graph);
}
Results composed(const Qkv& x, const AttentionOptions& o) {
  return results(x, [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return attention_with_weights(q, k, v, o).output;
  });
}

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(detail::join(a.shape()), detail::join(b.shape()));
  return a.count() == 0 ? 0 : amax(abs(a.detach() - b.detach())).item();
}
/// NaN is near nothing.
void expect_near(const Tensor& a, const Tensor& b, double room, const std::string& what) {
  EXPECT_TRUE(largest_difference(a, b) <= room)
      << what << ": differ by " << largest_difference(a, b);
}
void expect_near(const Results& a, const Results& b, double room, const std::string& what) {
  expect_near(a.output, b.output, room, what + ", output");
  const char* names[] = {", dq", ", dk", ", dv"};
  for (std::size_t i = 0; i < 3; ++i)
    expect_near(a.gradients[i], b.gradients[i], room, what + names[i]);
}
void expect_same_bits(const Results& a, const Results& b, const std::string& what) {
  EXPECT_TRUE(all_equal(a.output, b.output)) << what;
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(all_equal(a.gradients[i], b.gradients[i])) << what << ", gradient " << i;
}

Tensor rows(const Tensor& x, std::int64_t from, std::int64_t to) {
  return slice(x, -2, {.start = from, .stop = to});
}

// --- fused against composed ---

std::vector<std::pair<std::string, Tensor>> masks(const Sizes& s) {
  Generator rng(9);
  Tensor some_hidden = draw({s.queries, s.keys}, 6);
  some_hidden = masked_fill(some_hidden, bernoulli({s.queries, s.keys}, rng, 0.2),
                            -std::numeric_limits<double>::infinity());
  return {{"no mask", {}},
          {"boolean", bernoulli({s.batch, s.heads, s.queries, s.keys}, rng, 0.7)},
          {"boolean for all heads", bernoulli({s.batch, 1, s.queries, s.keys}, rng, 0.05)},
          {"key padding",
           less(unsqueeze(arange(s.keys), 0), reshape(tensor({70, 3}, i64), {2, 1, 1, 1}))},
          {"additive", some_hidden},
          {"additive for all queries", draw({s.heads, 1, s.keys}, 7)},
          {"boolean, strided", transpose(bernoulli({s.keys, s.queries}, rng, 0.5))}};
}

TEST(Attention, FusedEqualsComposed) {
  for (const std::int64_t shared : {4, 2, 1}) {
    const Sizes s{.shared = shared};
    for (const auto& [name, mask] : masks(s))
      for (const bool causal : {false, true})
        for (const double softcap : {0.0, 2.5}) {
          AttentionOptions o{.mask = mask, .causal = causal, .softcap = softcap};
          if (softcap > 0) o.causal_offset = causal ? 17 : 0, o.scale = 0.9;
          const std::string what = detail::join(name, ", causal ", causal, ", softcap ", softcap,
                                                ", key heads ", shared);
          const Results want = composed(inputs(s), o);
          expect_near(fused(inputs(s), o), want, 1e-12, what);
          const Qkv x32 = inputs(s, f32);
          expect_near(fused(x32, o),
                      composed({cast(x32.q, f64), cast(x32.k, f64), cast(x32.v, f64)}, o), 5e-5,
                      what + ", f32");
        }
  }
}

TEST(Attention, GradientThatIsRecordedEqualsFused) {
  const Sizes s{.shared = 2};
  for (const auto& [name, mask] : masks(s)) {
    const AttentionOptions o{.mask = mask, .causal = true, .softcap = 3};
    expect_near(fused(inputs(s), o, true), fused(inputs(s), o), 1e-12, name);
  }
}

TEST(Attention, SizesAroundATile) {
  for (const std::int64_t queries : {1, 15, 16, 17, 63, 64, 65, 200})
    for (const std::int64_t keys : {1, 7, 64, 65, 300})
      for (const std::int64_t width : {1, 3, 16, 17, 70}) {
        const Sizes s{1, 2, 1, queries, keys, width, 81 - width};
        const std::string what = detail::join(queries, " queries, ", keys, " keys, width ", width);
        expect_near(fused(inputs(s), {}), composed(inputs(s), {}), 1e-12, what);
        const AttentionOptions o{.causal = true};
        expect_near(fused(inputs(s), o), composed(inputs(s), o), 1e-12, what + ", causal");
      }
}

TEST(Attention, KeysCutIntoRanges) {  // few heads and many keys: backward sums over ranges
  const Sizes s{1, 1, 1, 70, 1100, 8, 8};
  for (const bool causal : {false, true}) {
    const AttentionOptions o{.causal = causal, .causal_offset = causal ? 600 : 0};
    expect_near(fused(inputs(s), o), composed(inputs(s), o), 1e-12,
                detail::join("causal ", causal));
  }
}

TEST(Attention, StridedInputsGiveTheSameBits) {
  const Sizes s;
  const Qkv x = inputs(s, f32);
  const auto through_views = [](const Tensor& q, const Tensor& k, const Tensor& v) {
    const auto view = [](const Tensor& t) {  // [B, T, H, d] seen as [B, H, T, d]
      return permute(contiguous(permute(t, {0, 2, 1, 3})), {0, 2, 1, 3});
    };
    const auto last = [](const Tensor& t) { return transpose(contiguous(transpose(t))); };
    return scaled_dot_product_attention(view(q), last(k), view(v), {.causal = true});
  };
  expect_same_bits(results(x, through_views), fused(x, {.causal = true}), "views");
}

TEST(Attention, HeadsBesideTimeInGiveHeadsBesideTimeOut) {
  const Tensor x = draw({2, 70, 3, 8}, 1, f32), q = permute(x, {0, 2, 1, 3});
  EXPECT_TRUE(permute(scaled_dot_product_attention(q, q, q), {0, 2, 1, 3}).contiguous());
  const Tensor c = contiguous(q);
  EXPECT_TRUE(scaled_dot_product_attention(c, c, c).contiguous());
}

TEST(Attention, SameBitsAtAnyNumberOfThreads) {
  const int before = num_threads();
  for (const Sizes& s : {Sizes{.shared = 2}, Sizes{1, 1, 1, 300, 1100, 16, 16}}) {
    const AttentionOptions o{.causal = true, .causal_offset = 100};
    set_num_threads(1);
    const Results one = fused(inputs(s, f32), o);
    for (const int threads : {2, 4}) {
      set_num_threads(threads);
      expect_same_bits(fused(inputs(s, f32), o), one, detail::join(threads, " threads"));
    }
  }
  set_num_threads(before);
}

// --- what masks mean ---

TEST(Attention, RowsThatSeeNothingGiveZeros) {
  const Sizes s{.queries = 70, .keys = 80};
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  Tensor seen = ones({s.queries, s.keys}, boolean);
  fill_(rows(seen, 5, 9), 0);
  for (const bool additive : {false, true}) {
    const Tensor mask =
        additive ? masked_fill(zeros(seen.shape(), f64), logical_not(seen), hidden) : seen;
    for (const bool form_weights : {false, true}) {
      const Results r =
          form_weights ? composed(inputs(s), {.mask = mask}) : fused(inputs(s), {.mask = mask});
      EXPECT_EQ(amax(abs(rows(r.output, 5, 9))).item(), 0);
      EXPECT_EQ(amax(abs(rows(r.gradients[0], 5, 9))).item(), 0);
      EXPECT_GT(amin(amax(abs(rows(r.output, 9, 70)), -1)).item(), 0);
      for (const Tensor& g : r.gradients) EXPECT_TRUE(all(isfinite(g)).item<bool>());
    }
  }
  for (const Results& r : {fused(inputs(s), {.mask = zeros({1}, boolean)}),
                           composed(inputs(s), {.mask = zeros({1}, boolean)})})
    for (const Tensor& t : {r.output, r.gradients[0], r.gradients[1], r.gradients[2]})
      EXPECT_EQ(amax(abs(t)).item(), 0);
}

TEST(Attention, PaddingChangesNothing) {
  const Sizes s{.queries = 90, .keys = 70};
  const Results bare = fused(inputs(s), {});
  Qkv x = inputs(s);
  const auto with_padding = [](const Tensor& t) {
    return concat({t, full({t.size(0), t.size(1), 61, t.size(3)}, 3.5, f64)}, 2);
  };
  x.k = with_padding(x.k), x.v = with_padding(x.v);
  const Tensor mask = less(arange(0, 131), 70);
  for (const bool form_weights : {false, true}) {
    const Results r = form_weights ? composed(x, {.mask = mask}) : fused(x, {.mask = mask});
    expect_near(r.output, bare.output, 1e-14, "output");
    expect_near(r.gradients[0], bare.gradients[0], 1e-14, "dq");
    for (const std::size_t i : {1, 2}) {
      expect_near(rows(r.gradients[i], 0, 70), bare.gradients[i], 1e-13, "dk, dv");
      EXPECT_EQ(amax(abs(rows(r.gradients[i], 70, 131))).item(), 0);
    }
  }
}

TEST(Attention, CausalEqualsRunsOnPrefixes) {
  const Sizes s{.queries = 70, .keys = 70};
  const Qkv x = inputs(s);
  const Tensor all = scaled_dot_product_attention(x.q, x.k, x.v, {.causal = true});
  for (const std::int64_t t : {0, 1, 31, 63, 64, 69}) {
    const Tensor one =
        scaled_dot_product_attention(rows(x.q, t, t + 1), rows(x.k, 0, t + 1), rows(x.v, 0, t + 1));
    expect_near(one, rows(all, t, t + 1), 1e-14, detail::join("query ", t));
  }
}

TEST(Attention, CausalAfterACacheEqualsTheTailOfTheFullRun) {
  const Sizes s{.queries = 140, .keys = 140};
  const Qkv x = inputs(s);
  const Tensor all = scaled_dot_product_attention(x.q, x.k, x.v, {.causal = true});
  for (const std::int64_t past : {1, 64, 75, 139}) {
    const AttentionOptions o{.causal = true, .causal_offset = past};
    const Tensor q = rows(x.q, past, 140);
    expect_near(scaled_dot_product_attention(q, x.k, x.v, o), rows(all, past, 140), 1e-14,
                detail::join("past ", past));
    expect_near(attention_with_weights(q, x.k, x.v, o).output, rows(all, past, 140), 1e-14,
                detail::join("past ", past, ", composed"));
  }
}

TEST(Attention, HugeOffsetsHideNothingOrEverything) {
  const Qkv x = inputs({.queries = 40, .keys = 50});
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto at_offset = [&](std::int64_t offset) {
    return scaled_dot_product_attention(x.q, x.k, x.v, {.causal = true, .causal_offset = offset});
  };
  EXPECT_TRUE(all_equal(at_offset(huge), scaled_dot_product_attention(x.q, x.k, x.v)));
  EXPECT_EQ(amax(abs(at_offset(-huge))).item(), 0);
  for (const std::int64_t offset : {huge, -huge, std::int64_t{1} << 60, std::int64_t{-7}}) {
    const AttentionOptions options{.causal = true, .causal_offset = offset};
    expect_near(attention_with_weights(x.q, x.k, x.v, options).output, at_offset(offset), 1e-13,
                "with weights");
  }
}

// --- heads ---

TEST(Attention, PermutedHeadsGivePermutedOutput) {
  const Qkv x = inputs({});
  const Tensor order = tensor({2, 0, 3, 1}, i64);
  const auto permuted = [&](const Tensor& t) { return index_select(t, 1, order); };
  const Results a = fused(x, {.causal = true});
  const Tensor b =
      scaled_dot_product_attention(permuted(x.q), permuted(x.k), permuted(x.v), {.causal = true});
  EXPECT_TRUE(all_equal(b, permuted(a.output)));
}

TEST(Attention, GroupedHeadsEqualRepeatedHeads) {
  const Sizes s{.shared = 2};
  const auto repeated = [](const Tensor& t) {  // [B, 2, T, d] → [B, 4, T, d]
    return flatten(expand(unsqueeze(t, 2), {t.size(0), t.size(1), 2, t.size(2), t.size(3)}), 1, 2);
  };
  const auto apply = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return scaled_dot_product_attention(q, repeated(k), repeated(v), {.causal = true});
  };
  expect_near(fused(inputs(s), {.causal = true}), results(inputs(s), apply), 1e-13, "grouped");
}

TEST(Attention, WithoutQueryHeadsNothingIsComputed) {
  const Qkv x = inputs({.heads = 0, .shared = 3});
  Generator rng(1);
  const Tensor mask = zeros({131, 150}, f64).set_requires_grad();
  for (const AttentionOptions& options :
       {AttentionOptions{}, AttentionOptions{.causal = true},
        AttentionOptions{.dropout = 0.5, .rng = &rng}, AttentionOptions{.mask = mask}}) {
    Tensor q = kernels::clone(x.q), k = kernels::clone(x.k), v = kernels::clone(x.v);
    for (Tensor* t : {&q, &k, &v}) t->set_requires_grad();
    const Tensor y = scaled_dot_product_attention(q, k, v, options);
    EXPECT_EQ(detail::join(y.shape()), "[2, 0, 131, 40]");
    const Tensor w = attention_with_weights(q, k, v, options).weights;
    EXPECT_EQ(detail::join(w.shape()), "[2, 0, 131, 150]");
    for (const bool again : {true, false}) {
      const std::vector<Tensor> g =
          grad({sum(y)}, {q, k, v}, {.retain_graph = true, .create_graph = again});
      EXPECT_EQ(detail::join(g[0].shape()), detail::join(q.shape()));
      EXPECT_TRUE(all_equal(g[1], zeros_like(k)));
      EXPECT_TRUE(all_equal(g[2], zeros_like(v)));
    }
  }
  const Tensor q = ones({1, 2, 3, 4}), none = ones({1, 0, 3, 4});
  expect_error([&] { attention_with_weights(q, none, none); }, "cannot share 0 key heads");
}

TEST(Attention, ValuesMayHaveMoreLeadingAxesThanQueriesAndKeys) {
  Generator rng(5);
  for (const std::int64_t shared : {1, 2, 4}) {
    const auto input = [&](const Shape& shape) {
      return normal(shape, rng, 0, 1, f64).set_requires_grad();
    };
    const Tensor q = input({1, 4, 5, 3}), k = input({2, shared, 5, 3}),
                 v = input({3, 1, shared, 5, 2});
    const AttentionOptions causal{.causal = true};
    const auto gradients = [&](bool create_graph) {
      const Tensor y = scaled_dot_product_attention(q, k, v, causal);
      return grad({sum(square(y))}, {q, k, v}, {.create_graph = create_graph});
    };
    const std::vector<Tensor> fused = gradients(false), formed = gradients(true);
    for (int i = 0; i < 3; ++i) expect_near(formed[i], fused[i], 1e-12, "gradient");
    // A huge value of the last token changes neither the shape of the weights nor what is drawn.
    Tensor large = v.detach() * 1;
    fill_(slice(large, -2, {.start = 4}), 1e200);
    const auto dropped = [&](const Tensor& values) {
      Generator draws(1);
      const AttentionResult y = attention_with_weights(
          q.detach(), k.detach(), values, {.causal = true, .dropout = 0.5, .rng = &draws});
      EXPECT_EQ(detail::join(y.weights.shape()), "[2, 4, 5, 5]");
      return slice(y.output, -2, {.stop = 4});
    };
    expect_near(dropped(large), dropped(v.detach()), 1e-12, "earlier tokens");
  }
}

// --- weights, dropout, dtypes ---

TEST(Attention, WeightsAreADistributionOverVisibleKeys) {
  const Qkv x = inputs({});
  const Tensor w = attention_with_weights(x.q, x.k, x.v, {.causal = true}).weights;
  EXPECT_EQ(detail::join(w.shape()), "[2, 4, 131, 150]");
  expect_near(sum(w, -1), ones({2, 4, 131}, f64), 1e-13, "sum");
  EXPECT_EQ(amax(abs(triu(w, 1))).item(), 0);
}

TEST(Attention, DropoutKeepsTheMeanAndFollowsTheGenerator) {
  const Sizes s{.batch = 2, .heads = 2, .shared = 2, .queries = 3, .keys = 20, .values = 2};
  const Qkv x = inputs(s);
  Generator a(5), b(5), c(6);
  const auto drop = [&](Generator& rng) {
    return scaled_dot_product_attention(x.q, x.k, x.v, {.dropout = 0.3, .rng = &rng});
  };
  const Tensor first = drop(a);
  EXPECT_TRUE(all_equal(first, drop(b)));
  EXPECT_FALSE(all_equal(first, drop(c)));
  EXPECT_FALSE(all_equal(first, drop(a)));  // the generator has moved on

  constexpr int draws = 4000;
  Tensor total = zeros(first.shape(), f64), squares = zeros(first.shape(), f64);
  for (int i = 0; i < draws; ++i) {
    const Tensor y = drop(a);
    add_(total, y);
    add_(squares, square(y));
  }
  const Tensor mean = total / draws;
  const Tensor error = sqrt((squares / draws - square(mean)) / draws);
  const Tensor expected = scaled_dot_product_attention(x.q, x.k, x.v);
  EXPECT_LT(amax(abs(mean - expected) / error).item(), 5);  // 24 means: P ≈ 1e-5
  EXPECT_GT(amin(error).item(), 0);
}

TEST(Attention, GradientReachesAnAdditiveMask) {
  const Sizes s{1, 1, 1, 3, 4, 2, 2};
  const Qkv x = inputs(s);
  const auto f = [&](const std::vector<Tensor>& in) {
    return scaled_dot_product_attention(x.q, x.k, x.v, {.mask = in[0]});
  };
  Tensor mask = draw({3, 4}, 8);
  EXPECT_TRUE(gradcheck(f, {mask.set_requires_grad()}));
}

TEST(Attention, NoticesAnEditedMask) {
  const Tensor x = draw({1, 1, 3, 4}, 1).set_requires_grad();
  const Tensor mask = zeros({3, 3}, f64);
  const Tensor y = scaled_dot_product_attention(x, x, x, {.mask = mask});
  fill_(mask, 1);
  expect_error([&] { backward(sum(y)); }, "was edited in place");
}

TEST(Attention, MixedDtypesComputeInTheLarger) {
  const Qkv x = inputs({}), y = inputs({}, f32);
  const Tensor out = scaled_dot_product_attention(y.q, x.k, y.v);
  EXPECT_EQ(out.dtype(), f64);
  const Qkv as_f64{cast(y.q, f64), x.k, cast(y.v, f64)};
  EXPECT_TRUE(all_equal(out, scaled_dot_product_attention(as_f64.q, as_f64.k, as_f64.v)));
}

TEST(Attention, NotANumberStaysOne) {
  Qkv x = inputs({});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  fill_(at(x.q, {1, 2, 100}), nan);
  const Tensor bad = any(isnan(scaled_dot_product_attention(x.q, x.k, x.v)), -1);
  EXPECT_TRUE(at(bad, {1, 2, 100}).item<bool>());
  EXPECT_EQ(sum(bad).item(), 1);
}

// With two keys ±1 of values 1 and 2 the output is 1 + σ(−2q), so its slope is −2·σ(2q)·σ(−2q).
TEST(Attention, ASureWinnerHasAGradient) {
  for (const DType dtype : {f32, f64})
    for (const double z : {0.3, 2., 5., 9., 15., -20., -35.}) {
      const auto of = [&](std::initializer_list<double> values) {
        return cast(tensor(values, {1, 1, static_cast<std::int64_t>(values.size()), 1}, f64),
                    dtype);
      };
      const Tensor k = of({1, -1}), v = of({1, 2});
      const auto f = [&](const std::vector<Tensor>& x) {
        return scaled_dot_product_attention(x[0], x[1], v, {.scale = 1.0});
      };
      const double slope = -2 / (2 + std::exp(2 * z) + std::exp(-2 * z));
      const double bound = (dtype == f32 ? 2e-5 : 2e-14) * std::abs(slope);
      const auto expect_gradients = [&](bool create_graph) {
        const Tensor q = of({z}).set_requires_grad(), keys = k.detach().set_requires_grad();
        const auto d = grad({f({q, keys})}, {q, keys}, {.create_graph = create_graph});
        EXPECT_NEAR(d[0].item(), slope, bound) << z;
        EXPECT_NEAR(at(d[1], {0, 0, 0, 0}).item(), z * slope / 2, std::abs(z) * bound) << z;
        EXPECT_NEAR(at(d[1], {0, 0, 1, 0}).item(), -z * slope / 2, std::abs(z) * bound) << z;
      };
      for (const bool create_graph : {false, true}) expect_gradients(create_graph);
      EXPECT_NEAR(jvp(f, {of({z}), k}, {of({1}), zeros_like(k)}).tangent.item(), slope, bound) << z;
    }
}

// Queries look for one key each with growing certainty; keys fill several tiles and ranges.
TEST(Attention, TheGradientsOfSureWinnersAreThoseOfTheFormedWeights) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t queries : {1, 40})
      for (const std::int64_t keys : {16, 700})
        for (const double softcap : {0., 40.})
          for (const std::int64_t shared : {1, 2}) {
            Qkv x = inputs({.batch = 1,
                            .heads = 2,
                            .shared = shared,
                            .queries = queries,
                            .keys = keys,
                            .width = 16,
                            .values = 16},
                           dtype);
            std::vector<std::int64_t> found;
            for (std::int64_t i = 0; i < queries; ++i) found.push_back((i * 37 + 5) % keys);
            const Tensor of = from_vector(found, {queries});
            const Tensor sharpness = reshape(cast(arange(queries), f64), {queries, 1}) * 0.1 + 1;
            x.q = index_select(shared == 2 ? x.k : concat({x.k, x.k}, 1), 2, of) *
                  cast(sharpness, dtype);
            const AttentionOptions options{.scale = 1.0, .softcap = softcap};
            const Results got = fused(x, options),
                          want =
                              composed({cast(x.q, f64), cast(x.k, f64), cast(x.v, f64)}, options);
            for (int i = 0; i < 2; ++i) {
              const Tensor wide = cast(got.gradients[i], f64);
              const Tensor error = norm(wide - want.gradients[i], -1);
              const Tensor size = norm(want.gradients[i], -1);
              const double worst = amax(error / (size + 1e-30)).item();
              EXPECT_LT(worst, dtype == f32 ? 2e-2 : 1e-10)
                  << i << " queries " << queries << " keys " << keys << " cap " << softcap;
            }
          }
}

}  // namespace
}  // namespace ladon::test::attention_test
