// Caches of keys and values, if memory runs out in the middle of a call: they are unchanged.

#include <gtest/gtest.h>

#include <new>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/transformer/transformer.h"
#include "ladon/tests/models/fail.h"
#include "ladon/tests/support.h"

namespace ladon::decoding_test {
namespace {

using test::FailingAllocation;

/// Calls change(cache), of a copy of `before`, while each of its allocations fails in turn; then
/// once more, and compares outputs of `next` with those of a cache that nothing happened to.
template <class Cache, class Change, class Next>
void without_memory(const Cache& before, const Change& change, const Next& next) {
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  Cache untouched = before;
  change(untouched);
  const Tensor expected = next(untouched);
  std::int64_t failed = 0;
  for (bool thrown = true; thrown;) {
    SCOPED_TRACE(++failed);
    Cache cache = before;
    {
      const FailingAllocation failing(failed);
      try {
        change(cache);
      } catch (const std::bad_alloc&) {
      }
      thrown = failing.thrown();
    }
    if (thrown) change(cache);
    EXPECT_TRUE(all_equal(next(cache), expected));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failed, 10);
}

// With a window the storage is moved as it grows: keys first, and then values.
TEST(DecodingModel, ACallThatLacksMemoryTakesNoTokens) {
  for (const std::int64_t window : {0, 5}) {
    Generator rng(1);
    const TransformerEncoderLayerOptions options{
        .dim = 8, .heads = 2, .dropout = 0, .attention = {.causal = true, .window = window}};
    TransformerEncoder model({options, 2}, rng);
    model.eval();
    const NoGrad no_grad;
    const Tensor prompt = normal({2, 70, 8}, rng), more = normal({2, 80, 8}, rng),
                 last = normal({2, 1, 8}, rng);
    DecodingCache full;
    model(prompt, full);
    for (const DecodingCache& before : {DecodingCache(), full}) {
      without_memory(
          before, [&](DecodingCache& cache) { model(more, cache); },
          [&](DecodingCache& cache) { return model(last, cache); });
      const MultiHeadAttention& attention = *model.layers[0].attention.kind();
      without_memory(
          before.layers.empty() ? KeyValueCache() : before.layers[0],
          [&](KeyValueCache& cache) { attention(more, cache); },
          [&](KeyValueCache& cache) { return attention(last, cache); });
      AttentionHeads h;
      h.q = h.k = h.v = normal({2, 2, 80, 4}, rng);
      without_memory(
          before.layers.empty() ? KeyValueCache() : before.layers[0],
          [&](KeyValueCache& cache) { cache.append(h, {}, window); },
          [&](KeyValueCache& cache) { return attention(last, cache); });
    }
  }
}

}  // namespace
}  // namespace ladon::decoding_test
