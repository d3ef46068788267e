#include "ladon/core/kernels/attention/attention.h"

#include <cmath>
#include <limits>

#include "ladon/core/kernels/attention/attention_tiles.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

using namespace tiles;

/// Workspace of a task: queries [width, n], a tile [keys, n] and output [value_width, n] for a
/// block of n queries (padded), and vectors of one element per query.
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

  T* values(const Problem<T>& p) {  // buffer for a tile of values with non-finite elements set to 0
    if (!finite_values) finite_values = workspace.take(p.value_width * block_keys);
    return finite_values;
  }

  Workspace<T> workspace;
  T *queries, *tile, *output, *factors, *finite_values = nullptr;
  MaskTile<T> mask;
  T *top = workspace.take(block_queries), *sum = workspace.take(block_queries),
    *keep = workspace.take(block_queries);
};

/// The power of two by which values [keys, value_width] are multiplied in a block that is computed
/// carefully (attention_tiles.h). It is 1 unless their sums, with weights up to 1, may overflow
/// before the division by the sum of weights.
template <class T>
T room_for_sums(const TileOperand<T>& v, int64_t keys, int64_t columns) {
  const T room = std::ldexp(T(1), -std::ilogb(static_cast<T>(std::max<int64_t>(keys, 1))) - 1);
  const T largest = std::numeric_limits<T>::max() * room;
  for (int64_t r = 0; r < keys; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const T size = std::abs(v.data[r * v.row + c * v.column]);
      if (size > largest && std::isfinite(size)) return room;
    }
  return T(1);
}

/// Computes log_sum of each query, and `scale`, the factor of its output: 1/(sum·room) if values
/// were multiplied by `room`, and 0 for a query that sees no key.
template <class T>
void finish(int64_t queries, const T* top, const T* sum, T room, T* log_sum, T* scale) {
  for (int64_t i = 0; i < queries; ++i) {
    const bool empty = sum[i] == T(0);
    log_sum[i] = empty ? infinity<T> : top[i] + std::log2(sum[i]);
    scale[i] = empty ? T(0) : T(1) / sum[i] / room;
  }
}

/// Computes the outputs for a block of queries of one head. Returns whether all results are finite;
/// if not, the block must be computed again, carefully (attention_tiles.h).
template <class T>
bool forward_block(const Problem<T>& p, ForwardBuffers<T>& b, int64_t batch, int64_t head,
                   int64_t query, Target<T> output, T* log_sum, bool careful = false) {
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
  const T room = careful ? room_for_sums(v, end, p.value_width) : T(1);
  for (t.key = 0; t.key < end; t.key += block_keys) {
    t.keys = std::min(block_keys, end - t.key);
    if (!tile_logits<T>(p, batch, head, t, k, b.queries, b.mask, b.tile, nullptr, careful))
      continue;
    p.loops.softmax(b.tile, t.keys, t.n, b.top, b.sum, b.keep);
    TileOperand<T> values{v.data + t.key * v.row, v.column, v.row};  // [value_width, keys]
    std::vector<NotFinite<T>> rest;
    if (careful) {
      rest = load_finite<T>({values.data, v.row, v.column}, t.keys, p.value_width, b.values(p),
                            p.value_width, room);
      values = {b.values(p), 1, p.value_width};
    }
    // [value_width, keys] · [keys, n] → [value_width, n]
    p.loops.multiply(p.value_width, t.n, t.keys, values, b.tile, t.n, b.keep, b.output, t.n);
    add_columns(rest, b.tile, t.n, b.output);
  }
  finish(t.queries, b.top, b.sum, room, log_sum + query, b.keep);  // b.keep: factors of the output
  p.loops.transpose(p.value_width, t.queries, {b.output, t.n, 1}, b.keep,
                    output.data + query * output.row, output.row);
  // A non-finite value makes its channel non-finite for every query, because every query's sum
  // includes every tile; a non-finite logit makes the sum of its query non-finite.
  return all_finite(output.data + query * output.row, p.value_width) &&
         all_finite(b.sum, t.queries);
}

/// Workspace of a task with few queries, in which vector lanes run along the keys: queries
/// [Tq, width], logits [Tq, n], output [Tq, v_lanes], vectors of one element per query, and a tile
/// of keys or values that cannot be used in place.
template <class T>
struct FewBuffers {
  explicit FewBuffers(const Problem<T>& p)
      : v_lanes(padded<T>(p.value_width)),
        queries(workspace.take(p.queries * p.width)),
        rows(workspace.take(block_keys * std::max(p.width, v_lanes))),
        tile(workspace.take(p.queries * block_keys)),
        output(workspace.take(p.queries * v_lanes)),
        kept(workspace.take(v_lanes)),
        mask(p, workspace) {}

  Workspace<T> workspace;
  int64_t v_lanes;
  T *queries, *rows, *tile, *output, *kept;
  MaskTile<T> mask;
  T *top = workspace.take(tile_lanes<T>), *sum = workspace.take(tile_lanes<T>),
    *keep = workspace.take(tile_lanes<T>);
};

/// Keys or values [keys, columns] of a tile in rows of n elements, padded with 0: in place if they
/// have this layout already, else copied to `space`.
template <class T>
TileOperand<T> whole_rows(TileOperand<T> x, const Tile& t, int64_t columns, T* space, int64_t n) {
  x.data += t.key * x.row;
  if (x.column == 1 && columns == n) return x;
  load(x, t.keys, columns, T(1), space, n);
  return {space, n, 1};
}

/// tile_logits() with vector lanes along the keys: queries [Tq, width] · keysᵀ [width, keys] →
/// [Tq, keys] in rows of n lanes.
template <class T>
bool few_logits(const Problem<T>& p, FewBuffers<T>& b, int64_t batch, int64_t head, const Tile& t,
                TileOperand<T> k, bool careful) {
  const bool boolean_mask = p.mask.defined() && p.mask.dtype() == boolean;
  if (boolean_mask && hides(matrix<bool>(p.mask, batch, head), t)) return false;
  k = whole_rows(k, t, p.width, b.rows, p.width);
  p.loops.multiply_turned(t.queries, t.keys, p.width, {b.queries, p.width, 1}, k.data, k.row,
                          b.tile, t.n);
  for (int64_t i = 0; i < t.queries; ++i) {
    T* s = b.tile + i * t.n;
    std::fill(s + t.keys, s + t.n, T(0));
    if (p.limit > 0) p.loops.cap(p.limit, s, t.n);
    if (boolean_mask) {
      const TileOperand<bool> mask = matrix<bool>(p.mask, batch, head);
      const bool* visible = mask.data + i * mask.row + t.key * mask.column;
      for (int64_t j = 0; j < t.keys; ++j)
        if (!visible[j * mask.column]) s[j] = -infinity<T>;
    } else if (p.mask.defined()) {
      TileOperand<T> added = matrix<T>(p.mask, batch, head);
      added.data += i * added.row + t.key * added.column;
      load(added, 1, t.keys, static_cast<T>(log2_e), b.mask.turned, t.n);
      p.loops.add(b.mask.turned, s, t.n);
      if (careful) hide_forbidden(b.mask.turned, t.keys, s);
    }
    const int64_t seen = std::clamp<int64_t>(p.keys_before(i) - t.key, 0, t.keys);
    std::fill(s + seen, s + t.n, -infinity<T>);
  }
  return true;
}

/// Computes the outputs for all queries of one head. Every sum adds its terms in the order of
/// forward_block(), so that the bits of a query's output do not depend on the number of queries.
/// Returns whether all results are finite, as forward_block() does.
template <class T>
bool forward_few(const Problem<T>& p, FewBuffers<T>& b, int64_t batch, int64_t head,
                 Target<T> output, T* log_sum, bool careful = false) {
  const TileOperand<T> k = matrix<T>(p.k, batch, head / p.group());
  const TileOperand<T> v = matrix<T>(p.v, batch, head / p.group());
  load(matrix<T>(p.q, batch, head), p.queries, p.width, p.query_factor, b.queries, p.width);
  std::fill_n(b.top, p.queries, -infinity<T>);
  std::fill_n(b.sum, p.queries, T(0));
  std::fill_n(b.output, p.queries * b.v_lanes, T(0));
  const int64_t end = p.keys_before(p.queries - 1);
  const T room = careful ? room_for_sums(v, end, p.value_width) : T(1);
  Tile t{0, 0, 0, p.queries, 0};
  for (; t.key < end; t.key += block_keys) {
    t.keys = std::min(block_keys, end - t.key);
    t.n = padded<T>(t.keys);
    if (!few_logits(p, b, batch, head, t, k, careful)) continue;
    p.loops.softmax_rows(b.tile, t.queries, t.n, b.top, b.sum, b.keep);
    std::vector<NotFinite<T>> rest;
    if (careful)
      rest = load_finite<T>({v.data + t.key * v.row, v.row, v.column}, t.keys, p.value_width,
                            b.rows, b.v_lanes, room);
    const TileOperand<T> values = careful ? TileOperand<T>{b.rows, b.v_lanes, 1}
                                          : whole_rows(v, t, p.value_width, b.rows, b.v_lanes);
    for (int64_t i = 0; i < t.queries; ++i) {  // [1, keys] · [keys, v_lanes] → [1, v_lanes]
      std::fill_n(b.kept, b.v_lanes, b.keep[i]);
      p.loops.multiply(1, b.v_lanes, t.keys, {b.tile + i * t.n, t.n, 1}, values.data, values.row,
                       b.kept, b.output + i * b.v_lanes, b.v_lanes);
      for (const auto& [key, channel, value] : rest)
        if (const T weight = b.tile[i * t.n + key]; weight != 0)
          b.output[i * b.v_lanes + channel] += weight * value;
    }
  }
  finish(p.queries, b.top, b.sum, room, log_sum, b.keep);
  for (int64_t i = 0; i < p.queries; ++i)
    load<T>({b.output + i * b.v_lanes, b.v_lanes, 1}, 1, p.value_width, b.keep[i],
            output.data + i * output.row, p.value_width);
  return all_finite(b.output, p.queries * b.v_lanes) && all_finite(b.sum, p.queries);
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
  const double flops = 2.0 * block_queries * static_cast<double>(p.keys) *
                       static_cast<double>(p.width + p.value_width);
  if (4 * p.queries <= tile_lanes<T>) {  // with more queries, forward_block() pads less
    parallel::for_range(p.leading.count() * p.heads, grain(flops), [&](int64_t begin, int64_t end) {
      FewBuffers<T> buffers(p);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t batch = row / p.heads, head = row % p.heads;
        const Target<T> to = target(result.output, output, batch, head);
        T* sums = log_sum + row * p.queries;
        if (!forward_few(p, buffers, batch, head, to, sums))
          forward_few(p, buffers, batch, head, to, sums, true);
      }
    });
    return result;
  }
  const int64_t pieces = blocks(p.queries, block_queries);
  parallel::for_range(
      p.leading.count() * p.heads * pieces, grain(flops), [&](int64_t begin, int64_t end) {
        ForwardBuffers<T> buffers(p);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t row = i / pieces, batch = row / p.heads, head = row % p.heads;
          const int64_t query = i % pieces * block_queries;
          const Target<T> to = target(result.output, output, batch, head);
          T* sums = log_sum + row * p.queries;
          if (!forward_block(p, buffers, batch, head, query, to, sums))
            forward_block(p, buffers, batch, head, query, to, sums, true);
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
    return {all.hide(r.output), all.hide(r.log_sum)};
  }
  return visit_floating("attention", q.dtype(),
                        [&]<class T>() { return forward<T>(q, k, v, settings); });
}

}  // namespace ladon::kernels
