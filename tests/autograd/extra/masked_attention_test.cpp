// Masked keys have no effect: whatever numbers are in them and in their values, the outputs and the
// gradients of queries and of visible keys do not change. Tested for every way in which attention
// is computed, under every kind of mask, with a cap on logits, grouped heads and any length. Also:
// additive masks with any finite numbers have the same effect in the tiled computation as in the
// one that forms all weights.

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/record.h"
#include "ladon/tests/support.h"

namespace ladon::masked_attention_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

struct Operands {
  Tensor q, k, v;
};

/// A form of computation: its output, of operands that may require gradients.
struct Form {
  const char* name;
  std::function<Tensor(const Operands&, const AttentionOptions&)> output;
  bool graph;  ///< Gradients with a graph of their own, by the composed rule.
};
const std::vector<Form>& forms() {
  static const auto fused = [](const Operands& x, const AttentionOptions& o) {
    return scaled_dot_product_attention(x.q, x.k, x.v, o);
  };
  static const std::vector<Form> all = {{"fused", fused, false},
                                        {"fused, with the graph of its gradients", fused, true},
                                        {"with weights",
                                         [](const Operands& x, const AttentionOptions& o) {
                                           return attention_with_weights(x.q, x.k, x.v, o).output;
                                         },
                                         false},
                                        {"dropout",
                                         [](const Operands& x, AttentionOptions o) {
                                           Generator rng(4);
                                           o.dropout = 0.3;
                                           o.rng = &rng;
                                           return scaled_dot_product_attention(x.q, x.k, x.v, o);
                                         },
                                         false},
                                        {"mapped",
                                         [](const Operands& x, const AttentionOptions& o) {
                                           const auto one = [o](const std::vector<Tensor>& t) {
                                             return scaled_dot_product_attention(t[0], t[1], t[2],
                                                                                 o);
                                           };
                                           return vmap(TensorFunction(one), {x.q, x.k, x.v});
                                         },
                                         false}};
  return all;
}

/// A kind of mask that hides the keys from `first` on: from all queries, or from those before them.
struct Mask {
  const char* name;
  std::function<AttentionOptions(std::int64_t queries, std::int64_t keys, std::int64_t first,
                                 DType dtype)>
      options;
};
const std::vector<Mask>& masks() {
  static const auto seen = [](std::int64_t keys, std::int64_t first) {
    return less(arange(keys), static_cast<double>(first));
  };
  static const std::vector<Mask> all = {
      {"bool, of keys", [](std::int64_t, std::int64_t keys, std::int64_t first,
                           DType) { return AttentionOptions{.mask = seen(keys, first)}; }},
      {"bool, of queries and keys",
       [](std::int64_t queries, std::int64_t keys, std::int64_t first, DType) {
         return AttentionOptions{
             .mask = logical_and(seen(keys, first), ones({queries, keys}, boolean))};
       }},
      {"added",
       [](std::int64_t queries, std::int64_t keys, std::int64_t first, DType dtype) {
         return AttentionOptions{.mask = where(seen(keys, first), zeros({queries, keys}, dtype),
                                               scalar(-infinity, dtype))};
       }},
      {"causal", [](std::int64_t queries, std::int64_t, std::int64_t first, DType) {
         return AttentionOptions{.causal = true, .causal_offset = first - queries};
       }}};
  return all;
}

/// Output and gradients of the queries that see no hidden key, of a loss of these alone.
std::vector<Tensor> passed(const Form& form, Operands x, const AttentionOptions& o,
                           std::int64_t first) {
  for (Tensor* t : {&x.q, &x.k, &x.v}) {
    *t = t->detach();
    t->set_requires_grad();
  }
  const std::int64_t queries = x.q.size(-2);
  const Tensor y = form.output(x, o);
  const Tensor c = cast(test::gaussian({queries, x.v.size(-1)}, 9), y.dtype());
  auto all = grad({sum(y * c)}, {x.q, x.k, x.v}, {.create_graph = form.graph});
  all[1] = slice(all[1], -2, {.stop = first});
  all[2] = slice(all[2], -2, {.stop = first});
  all.push_back(y);
  for (Tensor& t : all) t = t.detach();
  return all;
}

TEST(MaskedAttention, HiddenKeysAndValuesDoNotExist) {
  for (const DType dtype : {f32, f64})
    for (const auto& [queries, keys, first] : std::vector<std::array<std::int64_t, 3>>{
             {1, 5, 3}, {3, 7, 6}, {70, 130, 128}, {5, 70, 67}})
      for (const std::int64_t heads : {2, 4})
        for (const double softcap : {0.0, 1.5}) {
          const auto operand = [&](std::int64_t h, std::int64_t t, std::int64_t d, int seed) {
            return cast(test::gaussian({2, h, t, d}, static_cast<std::uint64_t>(seed)), dtype);
          };
          const Operands clean{operand(heads, queries, 3, 1), operand(2, keys, 3, 2),
                               operand(2, keys, 5, 3)};
          for (const Mask& mask : masks()) {
            AttentionOptions o = mask.options(queries, keys, first, dtype);
            o.softcap = softcap;
            for (const Form& form : forms()) {
              const std::vector<Tensor> expected = passed(form, clean, o, first);
              for (const double fill :
                   {-1e9, dtype == f64 ? 1e300 : 3e38, nan, infinity, -infinity})
                for (const int which : {1, 2, 3}) {
                  SCOPED_TRACE(detail::join(form.name, ", ", mask.name, ", ", queries, " queries, ",
                                            keys, " keys, ", heads, " heads, cap ", softcap,
                                            ", fill ", fill, " in ", which, " ", dtype));
                  Operands x = clean;
                  const Slice hidden{.start = first};
                  if (which & 1) {
                    x.k = clone(x.k);
                    fill_(slice(x.k, -2, hidden), fill);
                  }
                  if (which & 2) {
                    x.v = clone(x.v);
                    fill_(slice(x.v, -2, hidden), fill);
                  }
                  const std::vector<Tensor> found = passed(form, x, o, first);
                  const double tolerance = dtype == f64 ? 1e-12 : 1e-5;
                  for (std::size_t i = 0; i < found.size(); ++i)
                    ASSERT_TRUE(all_close(found[i], expected[i], tolerance, tolerance)) << i;
                }
            }
          }
        }
}

// Nor does one number of a hidden key or value, in whichever channel: it shows in that one alone.
TEST(MaskedAttention, OneNumberOfAHiddenKeyDoesNotExist) {
  for (const DType dtype : {f32, f64})
    for (const auto& [queries, keys, first] :
         std::vector<std::array<std::int64_t, 3>>{{1, 5, 3}, {9, 7, 6}, {70, 130, 128}}) {
      const auto operand = [&](std::int64_t t, std::int64_t d, int seed) {
        return cast(test::gaussian({1, 2, t, d}, static_cast<std::uint64_t>(seed)), dtype);
      };
      const Operands clean{operand(queries, 3, 1), operand(keys, 3, 2), operand(keys, 3, 3)};
      for (const Mask& mask : masks())
        for (const Form& form : forms()) {
          const AttentionOptions o = mask.options(queries, keys, first, dtype);
          const std::vector<Tensor> expected = passed(form, clean, o, first);
          for (std::int64_t channel = 0; channel < 3; ++channel)
            for (const double fill : {dtype == f64 ? 1e300 : 3e38, nan, infinity})
              for (const bool key : {true, false}) {
                SCOPED_TRACE(detail::join(form.name, ", ", mask.name, ", ", queries, " queries, ",
                                          fill, " in channel ", channel, " of a ",
                                          key ? "key " : "value ", dtype));
                Operands x = clean;
                Tensor& of = key ? x.k : x.v;
                of = clone(of);
                fill_(at(of, {0, 1, keys - 1, channel}), fill);
                const std::vector<Tensor> found = passed(form, x, o, first);
                const double tolerance = dtype == f64 ? 1e-12 : 1e-5;
                for (std::size_t i = 0; i < found.size(); ++i)
                  ASSERT_TRUE(all_close(found[i], expected[i], tolerance, tolerance)) << i;
              }
        }
    }
}

// A key of the future that is no number reaches the queries that see it, and no other; and their
// gradients, if there are any.
TEST(MaskedAttention, AKeyOfTheFutureReachesThePresentAlone) {
  for (const std::int64_t t : {3, 70}) {
    const auto operand = [&](int seed) {
      return cast(test::gaussian({1, 2, t, 3}, static_cast<std::uint64_t>(seed)), f64);
    };
    const AttentionOptions o{.causal = true};
    const Slice past{.stop = t - 1};
    const auto passed = [&](Operands x) {
      for (Tensor* of : {&x.q, &x.k, &x.v}) of->set_requires_grad();
      const Tensor y = scaled_dot_product_attention(x.q, x.k, x.v, o);
      auto all = grad({sum(square(slice(y, -2, past)))}, {x.q, x.k, x.v});
      all.push_back(y.detach());
      return all;
    };
    const std::vector<Tensor> expected = passed({operand(1), operand(2), operand(3)});
    for (const int which : {1, 2, 4, 7}) {
      Operands x{operand(1), operand(2), operand(3)};
      int bit = 1;
      for (Tensor* of : {&x.q, &x.k, &x.v}) {
        if (which & bit) fill_(slice(*of, -2, {.start = t - 1}), nan);
        bit *= 2;
      }
      const std::vector<Tensor> found = passed(x);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(
            all_close(slice(found[i], -2, past), slice(expected[i], -2, past), 1e-12, 1e-12))
            << i;
      EXPECT_TRUE(any(isnan(slice(found[3], -2, {.start = t - 1}))).item<bool>());
      Operands seen = x;  // a loss of what sees it
      seen.q.set_requires_grad();
      const Tensor y = scaled_dot_product_attention(seen.q, seen.k, seen.v, o);
      EXPECT_FALSE(all(isfinite(grad({sum(y)}, {seen.q})[0])).item<bool>());
    }
  }
}

// Nor does a query that is no number, or sees a key that is none, reach a gradient where nobody
// reads its output, in any form.
TEST(MaskedAttention, QueriesThatNobodyReadDoNotExist) {
  constexpr std::int64_t t = 5, first = 3;  // queries from the first on see the keys from it on
  const Tensor key = arange(t), query = unsqueeze(arange(t), 1);
  const Tensor sees = logical_or(less(key, first), greater_equal(query, first));
  for (const DType dtype : {f32, f64})
    for (const std::int64_t heads : {2, 4})
      for (const AttentionOptions& o :
           {AttentionOptions{.mask = sees},
            {.mask = where(sees, zeros({t, t}, dtype), scalar(-infinity, dtype))},
            {.causal = true, .softcap = 1.5}})
        for (const Form& form : forms()) {
          const auto passed = [&](double fill, int which) {
            Operands x;
            int seed = 1, bit = 1;
            for (Tensor* of : {&x.q, &x.k, &x.v}) {
              const std::int64_t h = of == &x.q ? heads : 2;
              *of = clone(
                  cast(test::gaussian({2, h, t, 3}, static_cast<std::uint64_t>(seed++)), dtype));
              if (which & bit) fill_(slice(*of, -2, {.start = first}), fill);
              bit *= 2;
              of->set_requires_grad();
            }
            const Tensor y = slice(form.output(x, o), -2, {.stop = first});
            auto all = grad({sum(y * cast(test::gaussian(y.shape(), 9), dtype))}, {x.q, x.k, x.v},
                            {.create_graph = form.graph});
            all.push_back(y);
            for (Tensor& g : all) g = g.detach();
            return all;
          };
          for (const double fill : {nan, infinity, dtype == f64 ? 1e300 : 3e38})
            for (int which = 1; which < 8; ++which) {
              SCOPED_TRACE(detail::join(form.name, ", ", fill, " in ", which, ", ", heads,
                                        " heads ", dtype, o.causal ? ", causal" : ", masked"));
              const std::vector<Tensor> expected = passed(0, which), found = passed(fill, which);
              const double tolerance = dtype == f64 ? 1e-12 : 1e-5;
              for (std::size_t i = 0; i < found.size(); ++i)
                ASSERT_TRUE(all_close(found[i], expected[i], tolerance, tolerance)) << i;
            }
        }
}

// A mean of values near the largest number is in range, though their sum is not.
TEST(MaskedAttention, MeansOfTheLargestValuesAreInRange) {
  for (const DType dtype : {f32, f64})
    for (const std::int64_t queries : {1, 3, 70})
      for (const std::int64_t keys : {2, 64, 65, 300})
        for (const bool hidden : {false, true}) {
          const double huge = dtype == f32 ? 3e38 : 1.7e308;
          const Tensor q = zeros({1, 1, queries, 2}, dtype), k = zeros({1, 1, keys, 2}, dtype);
          Tensor v = full({1, 1, keys, 3}, huge, dtype);
          fill_(slice(v, -1, {.start = 1, .stop = 2}), -huge);
          fill_(slice(v, -1, {.start = 2}), 0.5);
          AttentionOptions o;
          if (hidden) {
            fill_(slice(v, -2, {.stop = 1}), nan);
            o.mask = greater(arange(keys), 0);
          }
          const Tensor y = scaled_dot_product_attention(q, k, v, o);
          const Tensor want = expand(cast(tensor({huge, -huge, 0.5}, f64), dtype), y.shape());
          EXPECT_TRUE(all_close(y, want, dtype == f32 ? 1e-5 : 1e-13, 0))
              << dtype << ' ' << queries << " queries, " << keys << " keys: " << y;
        }
}

// Padding costs no pass of its own, however many keys it has: as many operations run with 1 and
// with 60 hidden keys that are no numbers.
TEST(MaskedAttention, HiddenKeysCostNothingEach) {
  const auto operations = [](std::int64_t padding) {
    constexpr std::int64_t keys = 64;
    const auto operand = [](int seed) {
      return cast(test::gaussian({1, 2, keys, 3}, static_cast<std::uint64_t>(seed)), f64);
    };
    const Slice hidden{.start = keys - padding};
    Operands x{operand(1), operand(2), operand(3)};
    fill_(slice(x.k, -2, hidden), nan);
    fill_(slice(x.v, -2, hidden), nan);
    for (Tensor* of : {&x.q, &x.k, &x.v}) of->set_requires_grad();
    const AttentionOptions o{.mask = less(arange(keys), static_cast<double>(keys - padding))};
    const Tensor y = attention_with_weights(x.q, x.k, x.v, o).output;
    const Tensor g = grad({sum(square(y))}, {x.q}, {.create_graph = true})[0];
    EXPECT_TRUE(all(isfinite(y)).item<bool>());
    return g.history()->number() - x.q.history()->number();
  };
  EXPECT_EQ(operations(1), operations(60));
}

// A value that is seen reaches whoever sees it, in its channel alone, also beside a key that is
// hidden, and of however few queries.
TEST(MaskedAttention, AValueThatIsNoNumberReachesItsChannel) {
  constexpr std::int64_t keys = 5;
  for (const DType dtype : {f32, f64})
    for (const std::int64_t queries : {1, 2, 4, 9, 70})
      for (const double odd : {nan, infinity, -infinity})
        for (const double hidden : {0.0, nan}) {
          SCOPED_TRACE(detail::join(queries, " queries, ", odd, ", ", dtype, ", hidden ", hidden));
          const auto operand = [&](std::int64_t t, std::int64_t d, int seed) {
            return cast(test::gaussian({2, 1, t, d}, static_cast<std::uint64_t>(seed)), dtype);
          };
          Operands x{operand(queries, 3, 1), operand(keys, 3, 2), operand(keys, 4, 3)};
          const AttentionOptions o{.mask = less(arange(keys), 4.0)};
          const Tensor clean = scaled_dot_product_attention(x.q, x.k, x.v, o);
          fill_(at(x.v, {1, 0, 2, 1}), odd);
          for (Tensor* of : {&x.k, &x.v}) fill_(slice(*of, -2, {.start = 4}), hidden);
          for (const Form& form : forms()) {
            if (std::string(form.name) == "dropout") continue;  // may drop the key
            const Tensor y = form.output(x, o);
            for (std::int64_t n = 0; n < 2; ++n)
              for (std::int64_t channel = 0; channel < 4; ++channel) {
                const Slice every;
                const Tensor found = at(y, {n, 0, every, channel}),
                             before = at(clean, {n, 0, every, channel});
                if (n != 1 || channel != 1)
                  EXPECT_TRUE(all_close(found, before, 1e-5, 1e-5)) << form.name;
                else if (std::isnan(odd))
                  EXPECT_TRUE(all(isnan(found)).item<bool>()) << form.name;
                else
                  EXPECT_TRUE(all_equal(found, full({queries}, odd, dtype))) << form.name;
              }
          }
        }
}

// A gradient that is no number reaches the values in its channel, and what its query sees of them
// alone.
TEST(MaskedAttention, AGradientThatIsNoNumberReachesWhatItsQuerySees) {
  for (const std::int64_t t : {3, 70}) {
    SCOPED_TRACE(t);
    const std::int64_t query = t - 2;
    const auto passed = [&](double odd) {
      Operands x;
      int seed = 1;
      for (Tensor* of : {&x.q, &x.k, &x.v})
        *of = test::gaussian({1, 2, t, 3}, static_cast<std::uint64_t>(seed++)).set_requires_grad();
      Tensor c = clone(test::gaussian({1, 2, t, 3}, 9));
      fill_(at(c, {0, 1, query, 1}), odd);
      const AttentionOptions o{.causal = true};
      const Tensor y = scaled_dot_product_attention(x.q, x.k, x.v, o);
      return grad({sum(y * c)}, {x.q, x.k, x.v});
    };
    const std::vector<Tensor> before = passed(0), found = passed(nan);
    for (std::int64_t of = 0; of < 3; ++of)  // of q, k and v
      for (std::int64_t head = 0; head < 2; ++head)
        for (std::int64_t a = 0; a < t; ++a)
          for (std::int64_t channel = 0; channel < 3; ++channel) {
            const auto i = static_cast<std::size_t>(of);
            const double x = at(found[i], {0, head, a, channel}).item();
            const bool by_place = of == 0 ? a == query : a <= query;
            const bool reached = head == 1 && by_place && (of < 2 || channel == 1);
            if (reached)
              EXPECT_TRUE(std::isnan(x)) << of << ' ' << a << ' ' << channel;
            else
              EXPECT_NEAR(x, at(before[i], {0, head, a, channel}).item(), 1e-12)
                  << of << ' ' << head << ' ' << a << ' ' << channel;
          }
  }
}

// Rows of the lowest number are means of all values, those of −1e9 beside a 0 see what has the 0,
// and the gradients are as where the weights are formed.
TEST(MaskedAttention, AnyFiniteAdditiveMaskIsWhatItIsWhereWeightsAreFormed) {
  for (const DType dtype : {f32, f64})
    for (const auto& sizes : {std::pair<std::int64_t, std::int64_t>{2, 7}, {70, 70}}) {
      const std::int64_t queries = sizes.first, keys = sizes.second;
      const double most = dtype == f32 ? double(std::numeric_limits<float>::max())
                                       : std::numeric_limits<double>::max();
      const std::vector<double> levels = {-most, -0.7 * most, -1e30,      -1e9,
                                          0,     1e9,         0.8 * most, most};
      const auto operand = [&](std::int64_t t, int seed) {
        return cast(test::gaussian({1, 1, t, 4}, static_cast<std::uint64_t>(seed)), dtype);
      };
      for (const double background : levels)
        for (const double other : levels) {
          SCOPED_TRACE(detail::join(background, " and ", other, ", ", dtype, ", ", queries));
          Tensor mask = full({queries, keys}, background, dtype);
          fill_(slice(slice(mask, 0, {.start = 1}), 1, {.start = 1, .stop = 3}), other);
          const auto passed = [&](bool formed) {
            Operands x{operand(queries, 1), operand(keys, 2), operand(keys, 3)};
            for (Tensor* of : {&x.q, &x.k, &x.v}) of->set_requires_grad();
            const AttentionOptions o{.mask = mask};
            const Tensor y = formed ? attention_with_weights(x.q, x.k, x.v, o).output
                                    : scaled_dot_product_attention(x.q, x.k, x.v, o);
            auto all = grad({sum(square(y))}, {x.q, x.k, x.v});
            all.push_back(y.detach());
            return all;
          };
          const std::vector<Tensor> expected = passed(true), found = passed(false);
          const double tolerance = dtype == f64 ? 1e-6 : 1e-4;  // an ulp of 1e9 is 1e-7
          // Where logits and mask meet at rounding's edge, formed and fused round differently.
          for (const std::size_t i : {std::size_t{2}, std::size_t{3}})
            EXPECT_TRUE(all_close(found[i], expected[i], tolerance, tolerance)) << i;
          for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
            EXPECT_TRUE(all(isfinite(found[i])).item<bool>());
          if (std::abs(background) >= 1e30) {
            EXPECT_TRUE(all_close(slice(found[3], -2, {.stop = 1}),
                                  mean(operand(keys, 3), -2, keep_dims), tolerance, tolerance));
          }
        }
    }
}

}  // namespace
}  // namespace ladon::masked_attention_test
