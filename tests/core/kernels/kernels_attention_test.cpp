// The attention kernel for few queries, which has separate loops.

#include <gtest/gtest.h>

#include "ladon/core/kernels/attention/attention.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/view.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_attention_test {
namespace {

using std::int64_t;

Tensor rows(const Tensor& x, int64_t from, int64_t count) {
  return view::slice(x, x.rank() - 2, from, count, 1);
}

std::vector<std::pair<std::string, Tensor>> masks(Generator& rng, int64_t queries, int64_t keys,
                                                  DType dtype) {
  const Tensor turned = bernoulli({keys, queries}, rng, 0.5);
  return {{"no mask", {}},
          {"boolean", bernoulli({2, 4, queries, keys}, rng, 0.6)},
          {"boolean for all queries", bernoulli({2, 1, 1, keys}, rng, 0.1)},
          {"boolean, strided", view::transpose(turned, 0, 1)},
          {"additive", normal({queries, keys}, rng, 0, 1, dtype)},
          {"additive for all queries", normal({4, 1, keys}, rng, 0, 1, dtype)}};
}

void expect_bits_of_many(const Tensor& q, const Tensor& k, const Tensor& v,
                         const AttentionSettings& settings, const std::string& what) {
  const AttentionOutput whole = attention(q, k, v, settings);
  for (const auto& [from, count] :
       {std::pair<int64_t, int64_t>{0, 1}, {69, 1}, {63, 3}, {5, 7}, {30, 15}}) {
    AttentionSettings of_few = settings;
    of_few.causal_offset += from;
    if (settings.mask.defined() && settings.mask.size(-2) > 1)
      of_few.mask = rows(settings.mask, from, count);
    const AttentionOutput few = attention(rows(q, from, count), k, v, of_few);
    EXPECT_TRUE(
        layout::same_bits(contiguous(few.output), contiguous(rows(whole.output, from, count))))
        << what << ", " << count << " queries from " << from;
    EXPECT_TRUE(layout::same_bits(
        few.log_sum,
        contiguous(view::slice(whole.log_sum, whole.log_sum.rank() - 1, from, count, 1))))
        << what << ", " << count << " queries from " << from;
  }
}

TEST(KernelsAttention, FewQueriesHaveTheBitsOfMany) {
  Generator rng(1);
  const int64_t queries = 70, keys = 150;
  for (const DType dtype : {f32, f64})
    for (const auto& [width, values] : {std::pair<int64_t, int64_t>{64, 32}, {21, 13}, {1, 1}})
      for (const int64_t shared : {4, 1}) {
        const auto heads = [&](int64_t count, int64_t time, int64_t channels) {
          return view::transpose(normal({2, time, count, channels}, rng, 0, 1, dtype), 1, 2);
        };
        const Tensor q = heads(4, queries, width), k = heads(shared, keys, width),
                     v = heads(shared, keys, values);
        const Tensor columns = view::transpose(contiguous(view::transpose(k, 2, 3)), 2, 3);
        for (const auto& [name, mask] : masks(rng, queries, keys, dtype))
          for (const bool causal : {false, true}) {
            const AttentionSettings settings{.mask = mask,
                                             .causal = causal,
                                             .causal_offset = 3,
                                             .scale = 0.3,
                                             .softcap = width == 21 ? 2.5 : 0};
            const std::string what = detail::join(dtype, ", ", name, ", causal ", causal,
                                                  ", width ", width, ", key heads ", shared);
            expect_bits_of_many(q, k, v, settings, what);
            expect_bits_of_many(q, columns, v, settings, what + ", keys by columns");
          }
      }
}

TEST(KernelsAttention, FewQueriesHaveTheSameBitsOnAnyThreads) {
  Generator rng(2);
  const Tensor q = normal({3, 8, 2, 64}, rng), k = normal({3, 8, 500, 64}, rng),
               v = normal({3, 8, 500, 64}, rng);
  const int before = num_threads();
  set_num_threads(1);
  const AttentionOutput one = attention(q, k, v, {});
  set_num_threads(3);
  EXPECT_TRUE(layout::same_bits(attention(q, k, v, {}).output, one.output));
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::kernels::kernels_attention_test
