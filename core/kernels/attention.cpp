#include "ladon/core/kernels/attention.h"

#include <cmath>

#include "ladon/core/kernels/attention_tiles.h"
#include "ladon/core/mapped.h"
#include "ladon/core/parallel.h"

namespace ladon::kernels {
namespace {

using namespace tiles;

/// What a task works in: queries [width, n], a tile [keys, n], output [value_width, n], and one
/// number a query.
template <class T>
struct ForwardBuffers {
  explicit ForwardBuffers(const Problem<T>& p)
      : queries(workspace.take(p.width * block_queries)),
        tile(workspace.take(block_keys * block_queries)),
        output(workspace.take(p.value_width * block_queries)),
        factors(workspace.take(p.width)),
        mask(p, workspace) {
    std::fill_n(factors, p.width, p.query_factor);
  }

  Workspace<T> workspace;
  T *queries, *tile, *output, *factors;
  MaskTile<T> mask;
  T *top = workspace.take(block_queries), *sum = workspace.take(block_queries),
    *keep = workspace.take(block_queries);
};

template <class T>
void forward_block(const Problem<T>& p, ForwardBuffers<T>& b, int64_t batch, int64_t head,
                   int64_t query, Target<T> output, T* log_sum) {
  Tile t{0, 0, query, std::min(block_queries, p.queries - query), 0};
  t.n = padded<T>(t.queries);
  TileOperand<T> q = matrix<T>(p.q, batch, head);
  q.data += query * q.row;
  const TileOperand<T> k = matrix<T>(p.k, batch, head / p.group());
  const TileOperand<T> v = matrix<T>(p.v, batch, head / p.group());
  load_transposed(p, q, t.queries, p.width, b.factors, b.queries, t.n);
  std::fill_n(b.top, t.n, -infinity<T>);
  std::fill_n(b.sum, t.n, T(0));
  std::fill_n(b.output, p.value_width * t.n, T(0));
  const int64_t end = p.keys_before(query + t.queries - 1);
  for (t.key = 0; t.key < end; t.key += block_keys) {
    t.keys = std::min(block_keys, end - t.key);
    if (!tile_logits<T>(p, batch, head, t, k, b.queries, b.mask, b.tile, nullptr)) continue;
    p.loops.softmax(b.tile, t.keys, t.n, b.top, b.sum, b.keep);
    // [value_width, keys] · [keys, n] → [value_width, n]
    p.loops.multiply(p.value_width, t.n, t.keys, {v.data + t.key * v.row, v.column, v.row}, b.tile,
                     t.n, b.keep, b.output, t.n);
  }
  for (int64_t r = 0; r < t.queries; ++r) {
    const bool empty = b.sum[r] == T(0);
    log_sum[query + r] = empty ? infinity<T> : b.top[r] + std::log2(b.sum[r]);
    b.keep[r] = empty ? T(0) : T(1) / b.sum[r];
  }
  p.loops.transpose(p.value_width, t.queries, {b.output, t.n, 1}, b.keep,
                    output.data + query * output.row, output.row);
}

template <class T>
AttentionOutput forward(const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionSettings& settings) {
  const Problem<T> p = make_problem<T>(q, k, v, settings);
  AttentionOutput result{empty_laid_out(p.leading, q, p.queries, p.value_width), Tensor()};
  if (q.count() == 0 && result.output.count() == 0) return result;
  Shape rows = p.leading;
  for (const int64_t size : {p.heads, p.queries}) rows.append(size);
  result.log_sum = empty(rows, q.dtype());
  T* output = result.output.template mutable_strided_data<T>();
  T* log_sum = result.log_sum.template mutable_data<T>();
  const int64_t pieces = blocks(p.queries, block_queries);
  const double flops = 2.0 * block_queries * static_cast<double>(p.keys) *
                       static_cast<double>(p.width + p.value_width);
  parallel::for_range(
      p.leading.count() * p.heads * pieces, grain(flops), [&](int64_t begin, int64_t end) {
        ForwardBuffers<T> buffers(p);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / pieces, batch = row / p.heads, head = row % p.heads;
          forward_block(p, buffers, batch, head, i % pieces * block_queries,
                        target(result.output, output, batch, head), log_sum + row * p.queries);
        }
      });
  return result;
}

}  // namespace

AttentionOutput attention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionSettings& settings) {
  if (mapped::any(q, k, v, settings.mask)) {
    const MappedAttention all(q, k, v, settings);
    const AttentionOutput r = attention(all(q), all(k), all(v), all.settings);
    return {mapped::hide(r.output), mapped::hide(r.log_sum)};
  }
  return visit_floating("attention", q.dtype(),
                        [&]<class T>() { return forward<T>(q, k, v, settings); });
}

}  // namespace ladon::kernels
