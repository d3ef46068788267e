// Gradients of attention, where S are the logits, P the weights and O = P·V:
//   dV = Pᵀ·dO,  dP = dO·Vᵀ,  dS = P ∘ (dP − ⟨dO, O⟩),  dQ = scale·dS·K,  dK = scale·dSᵀ·Q.
// Each task computes the gradients of a range of keys of one key head, in a fixed order of
// summation; the contributions of the ranges to dQ are stored separately and summed at the end.
//
// A key whose weight for a query is close to 1 is the *winner* of that query. dP − ⟨dO, O⟩ has no
// correct digits left for it. Let dL be the gradient with respect to the logits that softmax
// receives (after the softcap). The winner's dL is computed as minus the sum of the dL of the other
// keys, since the sum over all keys is 0. The winner is left out of the products, and its
// contributions to dQ and dK are added at the end.

#include "ladon/core/kernels/attention/attention.h"
#include "ladon/core/kernels/attention/attention_tiles.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

using namespace tiles;

/// Division of the keys into `count` ranges of `length` keys. The number of ranges is the smallest
/// that gives about 64 tasks, since a single range is cheapest.
struct Ranges {
  int64_t count, length;
};
Ranges cut_keys(int64_t rows, int64_t keys) {
  const int64_t wanted = std::clamp<int64_t>(64 / std::max<int64_t>(rows, 1), 1,
                                             std::max<int64_t>(1, blocks(keys, 256)));
  const int64_t length = blocks(blocks(keys, wanted), block_keys) * block_keys;
  return {std::max<int64_t>(1, blocks(keys, std::max<int64_t>(1, length))), length};
}

/// Workspace of a task: for a block of queries, the queries and dO, each in columns (transposed)
/// and in rows, dQ in columns, and vectors of one element per query; two tiles; and, for the range
/// of keys, dK and dV.
template <class T>
struct BackwardBuffers {
  BackwardBuffers(const Problem<T>& p, int64_t range)
      : k_lanes(padded<T>(p.width)),
        v_lanes(padded<T>(p.value_width)),
        q_columns(workspace.take(p.width * block_queries)),
        g_columns(workspace.take(p.value_width * block_queries)),
        dq_columns(workspace.take(p.width * block_queries)),
        q_rows(workspace.take(k_lanes * block_queries)),
        g_rows(workspace.take(v_lanes * block_queries)),
        dk(workspace.take(k_lanes * range)),
        dv(workspace.take(v_lanes * range)),
        query_factors(workspace.take(p.width)),
        uncapped(p.limit > 0 ? workspace.take(block_keys * block_queries) : nullptr),
        mask(p, workspace) {
    std::fill_n(query_factors, p.width, p.query_factor);
    std::fill_n(scales, block_queries, p.scale);
    std::fill_n(ones, std::max({k_lanes, v_lanes, block_queries}), T(1));
  }

  Workspace<T> workspace;
  int64_t k_lanes, v_lanes;
  T *q_columns, *g_columns, *dq_columns, *q_rows, *g_rows, *dk, *dv, *query_factors, *uncapped;
  MaskTile<T> mask;
  T *weights = workspace.take(block_keys * block_queries),
    *gradient = workspace.take(block_keys * block_queries);
  T *log_sum = workspace.take(block_queries), *mean = workspace.take(block_queries);
  T* rest = workspace.take(block_queries);  // for each query, Σ dL over all keys but the winner
  // For one_query_range(): dQ of the query, and its log_sum or mean, repeated for all keys.
  T *dq_row = workspace.take(k_lanes), *of_query = workspace.take(block_keys);
  T* scales = workspace.take(block_queries);
  T* ones = workspace.take(std::max({k_lanes, v_lanes, block_queries}));

  /// Buffers for a block of queries that is computed carefully (attention_tiles.h): without the
  /// numbers that are not finite.
  struct Careful {
    T *finite_keys, *top, *sum, *keep;
    std::vector<NotFinite<T>> q_rest, g_rest;
    std::vector<char> silent;  ///< Whether dO of a query is 0, so that it contributes no gradient.
    bool sums = false;         ///< Whether `top` and `sum` replace log_sum.
  };
  Careful& careful(const Problem<T>& p) {
    if (!held.finite_keys) {
      held.finite_keys = workspace.take(block_keys * p.width);
      for (T** x : {&held.top, &held.sum, &held.keep}) *x = workspace.take(block_queries);
    }
    return held;
  }
  Careful held{};
};

template <class T>
struct BackwardProblem : Problem<T> {
  Tensor g, output, log_sum;
};

/// Σ a·b over n elements, summed in 8 lanes so that it becomes vector code.
template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i) sums[i % 8] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// Σ x over n elements, in 8 lanes as in dot().
template <class T>
T sum_of(const T* x, int64_t n) {
  T sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t lane = 0; lane < 8; ++lane) sums[lane] += x[i + lane];
  for (; i < n; ++i) sums[i % 8] += x[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// A key with a weight above this number is the winner of its query. At smaller weights, 1 − weight
/// loses at most 10 bits.
template <class T>
constexpr T sure = T(1) - T(0x1p-10);

template <class T>
bool has_winner(const T* weights, int64_t n) {
  int any = 0;
  for (int64_t i = 0; i < n; ++i) any |= weights[i] > sure<T> ? 1 : 0;  // becomes vector code
  return any != 0;
}

/// The winner of each query (the key whose weight is close to 1), for queries [batch, head, query].
template <class T>
struct Winners {
  Winners(int64_t count, int64_t ranges)
      : queries(count), key(count, -1), slope(count), rest(count * ranges) {}
  int64_t queries;
  std::vector<int64_t> key;    ///< −1 for a query without a winner.
  std::vector<T> slope, rest;  ///< Slope of the softcap at the winner; over the other keys the sum
                               ///< of the gradients dL of their logits, per range of keys.
};

/// Loads a block of queries with dO, log_sum and ⟨dO, O⟩ (b.mean). Lanes beyond the last query get
/// weight 0.
template <class T>
void load_queries(const BackwardProblem<T>& p, BackwardBuffers<T>& b, int64_t batch, int64_t head,
                  const Tile& t) {
  const auto from_query = [&](const Tensor& x) {
    TileOperand<T> m = matrix<T>(x, batch, head);
    m.data += t.query * m.row;
    return m;
  };
  const TileOperand<T> q = from_query(p.q), g = from_query(p.g), o = from_query(p.output);
  load_transposed(p, q, t.queries, p.width, b.query_factors, b.q_columns, t.n);
  load_transposed(p, g, t.queries, p.value_width, b.ones, b.g_columns, t.n);
  load(q, t.queries, p.width, p.scale, b.q_rows, b.k_lanes);
  load(g, t.queries, p.value_width, T(1), b.g_rows, b.v_lanes);
  std::fill_n(b.dq_columns, p.width * t.n, T(0));
  const T* log_sum = p.log_sum.template data<T>() + (batch * p.heads + head) * p.queries + t.query;
  std::copy_n(log_sum, t.queries, b.log_sum);
  std::fill(b.log_sum + t.queries, b.log_sum + t.n, infinity<T>);
  std::fill_n(b.mean, t.n, T(0));
  std::fill_n(b.rest, t.n, T(0));
  for (int64_t r = 0; r < t.queries; ++r)
    b.mean[r] = dot(b.g_rows + r * b.v_lanes, o.data + r * o.row, p.value_width);
}

/// Whether log_sum, the largest logit plus the logarithm of a sum, is rounded finely enough to
/// resolve this logarithm. It is not for a query whose keys all have logits near −1e9.
template <class T>
bool keeps_digits(const T* log_sum, int64_t queries) {
  constexpr T most = T(1e-4) / std::numeric_limits<T>::epsilon();
  return std::all_of(log_sum, log_sum + queries,
                     [](T x) { return std::abs(x) < most || x == infinity<T>; });
}

/// Prepares a loaded block of queries for careful computation (attention_tiles.h): sets queries
/// whose dO is 0 ("silent") to 0; then replaces non-finite elements of queries and dO by 0, and
/// lists them in q_rest and g_rest for add_rows(); and, if log_sum has lost digits, recomputes the
/// largest logits and the sums.
template <class T>
void load_carefully(const BackwardProblem<T>& p, BackwardBuffers<T>& b, int64_t batch, int64_t head,
                    const Tile& block, int64_t end) {
  auto& c = b.careful(p);
  Tile t = block;
  c.silent.assign(t.n, 1);  // lanes beyond the last query stay silent
  for (int64_t r = 0; r < t.queries; ++r) {
    const T* g = b.g_rows + r * b.v_lanes;
    char& silent = c.silent[r];
    silent = std::all_of(g, g + p.value_width, [](T x) { return x == 0; });
    if (!silent) continue;
    std::fill_n(b.q_rows + r * b.k_lanes, b.k_lanes, T(0));
    b.mean[r] = 0;
  }
  c.q_rest = load_finite<T>({b.q_rows, b.k_lanes, 1}, t.queries, p.width, b.q_rows, b.k_lanes);
  c.g_rest =
      load_finite<T>({b.g_rows, b.v_lanes, 1}, t.queries, p.value_width, b.g_rows, b.v_lanes);
  c.sums = !keeps_digits(b.log_sum, t.queries);
  if (!c.sums) return;
  std::fill_n(c.top, t.n, -infinity<T>);
  std::fill_n(c.sum, t.n, T(0));
  const TileOperand<T> k = matrix<T>(p.k, batch, head / p.group());
  for (t.key = 0; t.key < end; t.key += block_keys) {
    t.keys = std::min(block_keys, end - t.key);
    if (!tile_logits<T>(p, batch, head, t, k, b.q_columns, b.mask, b.weights, nullptr, true))
      continue;
    p.loops.softmax(b.weights, t.keys, t.n, c.top, c.sum, c.keep);
  }
  for (int64_t i = 0; i < t.n; ++i) b.log_sum[i] = c.sum[i] == 0 ? infinity<T> : c.top[i];
}

/// Weights of a tile of logits: 0 for hidden keys and silent queries, even if a logit is NaN.
template <class T>
void weigh_carefully(const BackwardProblem<T>& p, BackwardBuffers<T>& b, const Tile& t) {
  const auto& c = b.held;
  std::vector<char> seen(t.keys * t.n);
  for (int64_t i = 0; i < t.keys * t.n; ++i)
    seen[i] = b.weights[i] != -infinity<T> && !c.silent[i % t.n];
  p.loops.weights(b.weights, t.keys, t.n, b.log_sum);
  for (int64_t i = 0; i < t.keys * t.n; ++i) {
    if (!seen[i]) b.weights[i] = 0;
    if (c.sums && b.weights[i] != 0) b.weights[i] /= c.sum[i % t.n];
  }
}

/// Converts dP of a tile to the gradient of the uncapped logits. It is set to 0 for winners, which
/// are entered in `winners`, from index `at` on; the dL of the other keys are added to b.rest.
template <class T>
void logit_gradient(const BackwardProblem<T>& p, BackwardBuffers<T>& b, Winners<T>& winners,
                    int64_t at, const Tile& t, bool careful) {
  const int64_t count = t.keys * t.n;
  p.loops.softmax_backward(b.weights, b.gradient, t.keys, t.n, b.mean);
  const auto hide = [&] {
    for (int64_t i = 0; careful && i < count; ++i)
      if (b.weights[i] == 0) b.gradient[i] = 0;
  };
  hide();
  std::vector<int64_t> found;
  if (has_winner(b.weights, count))
    for (int64_t i = 0; i < count; ++i)
      if (b.weights[i] > sure<T>) found.push_back(i);
  for (const int64_t i : found) b.gradient[i] = 0;
  p.loops.multiply(1, t.n, t.keys, {b.ones, 0, 0}, b.gradient, t.n, b.ones, b.rest, t.n);
  for (const int64_t i : found) b.gradient[i] = 1;
  if (p.limit > 0) p.loops.uncap(b.uncapped, b.gradient, count);
  for (const int64_t i : found) {
    winners.key[at + i % t.n] = t.key + i / t.n;
    winners.slope[at + i % t.n] = b.gradient[i];
    b.gradient[i] = 0;
  }
  hide();
}

/// Adds one tile's contribution to dQ, dK and dV; row 0 of b.dk and b.dv belongs to key `first`.
template <class T>
void backward_tile(const BackwardProblem<T>& p, BackwardBuffers<T>& b, int64_t batch, int64_t head,
                   Winners<T>& winners, int64_t at, int64_t first, const Tile& t, bool careful) {
  TileOperand<T> k = matrix<T>(p.k, batch, head / p.group());
  TileOperand<T> v = matrix<T>(p.v, batch, head / p.group());
  v.data += t.key * v.row;
  if (!tile_logits(p, batch, head, t, k, b.q_columns, b.mask, b.weights, b.uncapped, careful))
    return;
  const auto& loops = p.loops;
  if (careful)
    weigh_carefully(p, b, t);
  else
    loops.weights(b.weights, t.keys, t.n, b.log_sum);
  T *dk = b.dk + (t.key - first) * b.k_lanes, *dv = b.dv + (t.key - first) * b.v_lanes;
  // Pᵀ [keys, queries] · dO [queries, value_width]
  loops.multiply(t.keys, b.v_lanes, t.queries, {b.weights, t.n, 1}, b.g_rows, b.v_lanes, b.ones, dv,
                 b.v_lanes);
  // V [keys, value_width] · dOᵀ [value_width, queries]
  loops.multiply(t.keys, t.n, p.value_width, v, b.g_columns, t.n, nullptr, b.gradient, t.n);
  logit_gradient(p, b, winners, at, t, careful);
  k = {k.data + t.key * k.row, k.column, k.row};  // [width, keys]
  std::vector<NotFinite<T>> k_rest;
  if (careful) {
    add_rows(b.held.g_rest, b.weights, t.keys, t.n, dv, b.v_lanes);
    add_rows(b.held.q_rest, b.gradient, t.keys, t.n, dk, b.k_lanes);
    k_rest =
        load_finite<T>({k.data, k.column, k.row}, t.keys, p.width, b.held.finite_keys, p.width);
    k = {b.held.finite_keys, 1, p.width};
  }
  // dSᵀ [keys, queries] · scale·Q [queries, width]
  loops.multiply(t.keys, b.k_lanes, t.queries, {b.gradient, t.n, 1}, b.q_rows, b.k_lanes, b.ones,
                 dk, b.k_lanes);
  // Kᵀ [width, keys] · dSᵀ [keys, queries]
  loops.multiply(p.width, t.n, t.keys, k, b.gradient, t.n, b.ones, b.dq_columns, t.n);
  add_columns(k_rest, b.gradient, t.n, b.dq_columns);
}

template <class T>
void store_rows(const T* x, int64_t n, int64_t rows, int64_t columns, Target<T> y) {
  for (int64_t r = 0; r < rows; ++r) std::copy_n(x + r * n, columns, y.data + r * y.row);
}

/// The gradients that tasks write; the gradient of q has one part for each range of keys.
template <class T>
struct Gradients {
  Tensor q_parts, k, v;
  T *q_data, *k_data, *v_data;
  Winners<T>* winners;
};

/// Whether a head has a single query, which sees all keys before some position (there is no mask
/// and no softcap), and rows of keys and values are whole vectors. Then keys are the vector lanes,
/// and each row of dK and dV is one product.
template <class T>
bool suits_one_query(const BackwardProblem<T>& p, const BackwardBuffers<T>& b) {
  const auto dense = [](const Tensor& x) { return x.strides()[x.rank() - 1] == 1; };
  return p.queries == 1 && p.group() == 1 && !p.mask.defined() && p.limit == 0 && dense(p.k) &&
         dense(p.v) && p.width == b.k_lanes && p.value_width == b.v_lanes;
}

/// Does what backward_range() does, where suits_one_query() is true. Its sums have the same terms
/// in the same order.
template <class T>
bool one_query_range(const BackwardProblem<T>& p, BackwardBuffers<T>& b, const Gradients<T>& out,
                     int64_t batch, int64_t head, int64_t range, int64_t first, int64_t last) {
  const auto& loops = p.loops;
  const TileOperand<T> k = matrix<T>(p.k, batch, head), v = matrix<T>(p.v, batch, head);
  const Target<T> dk = target(out.k, out.k_data, batch, head),
                  dv = target(out.v, out.v_data, batch, head),
                  dq = target(view::select(out.q_parts, 0, 0),
                              out.q_data + range * out.q_parts.strides()[0], batch, head);
  Tile t{first, 0, 0, 1, padded<T>(1)};
  load_queries(p, b, batch, head, t);
  if (!keeps_digits(b.log_sum, 1)) return false;
  const int64_t at = batch * p.heads + head;
  const TileOperand<T> q{b.q_columns, 1, t.n}, g{b.g_columns, 1, t.n};
  std::fill_n(b.dq_row, b.k_lanes, T(0));
  const int64_t end = std::clamp(p.keys_before(0), first, last);
  for (; t.key < end; t.key += block_keys) {
    t.keys = std::min(block_keys, end - t.key);
    const int64_t lanes = padded<T>(t.keys);
    const T *keys = k.data + t.key * k.row, *values = v.data + t.key * v.row;
    T *weights = b.weights, *gradient = b.gradient;
    std::fill(weights + t.keys, weights + lanes, T(0));
    std::fill(gradient + t.keys, gradient + lanes, T(0));
    loops.multiply_turned(1, t.keys, p.width, q, keys, k.row, weights, lanes);
    std::fill_n(b.of_query, lanes, b.log_sum[0]);
    loops.weights(weights, 1, lanes, b.of_query);
    // dO [1, value_width] · Vᵀ [value_width, keys]
    loops.multiply_turned(1, t.keys, p.value_width, g, values, v.row, gradient, lanes);
    std::fill_n(b.of_query, lanes, b.mean[0]);
    loops.softmax_backward(weights, gradient, 1, lanes, b.of_query);
    if (has_winner(weights, t.keys)) {
      const int64_t winner = std::max_element(weights, weights + t.keys) - weights;
      out.winners->key[at] = t.key + winner;
      out.winners->slope[at] = 1;
      gradient[winner] = 0;
    }
    b.rest[0] += sum_of(gradient, t.keys);
    // Pᵀ [keys, 1] · dO [1, value_width], and dSᵀ [keys, 1] · scale·Q [1, width]
    loops.multiply(t.keys, b.v_lanes, 1, {weights, 1, 0}, b.g_rows, b.v_lanes, nullptr,
                   dv.data + t.key * dv.row, dv.row);
    loops.multiply(t.keys, b.k_lanes, 1, {gradient, 1, 0}, b.q_rows, b.k_lanes, nullptr,
                   dk.data + t.key * dk.row, dk.row);
    // dS [1, keys] · K [keys, width]
    loops.multiply(1, b.k_lanes, t.keys, {gradient, lanes, 1}, keys, k.row, b.ones, b.dq_row,
                   b.k_lanes);
  }
  for (int64_t key = end; key < last; ++key) {
    std::fill_n(dk.data + key * dk.row, p.width, T(0));
    std::fill_n(dv.data + key * dv.row, p.value_width, T(0));
  }
  out.winners->rest[range * out.winners->queries + at] = b.rest[0];
  for (int64_t c = 0; c < p.width; ++c) dq.data[c] = p.scale * b.dq_row[c];
  return all_finite(b.dq_row, p.width);
}

/// Computes dK and dV of the keys [first, last) of one key head, and this range's part of dQ.
/// Returns false, with results that cannot be used, if a result is not finite and the range must be
/// computed again with `careful` (attention_tiles.h).
template <class T>
bool backward_range(const BackwardProblem<T>& p, BackwardBuffers<T>& b, const Gradients<T>& out,
                    int64_t batch, int64_t shared_head, int64_t range, int64_t first, int64_t last,
                    bool careful = false) {
  if (!careful && suits_one_query(p, b))
    return one_query_range(p, b, out, batch, shared_head, range, first, last);
  std::fill_n(b.dk, (last - first) * b.k_lanes, T(0));
  std::fill_n(b.dv, (last - first) * b.v_lanes, T(0));
  T* q_data = out.q_data + range * out.q_parts.strides()[0];
  const Tensor q_part = view::select(out.q_parts, 0, 0);
  for (int64_t head = shared_head * p.group(); head < (shared_head + 1) * p.group(); ++head) {
    Target<T> dq = target(q_part, q_data, batch, head);
    for (int64_t query = 0; query < p.queries; query += block_queries) {
      Tile t{first, 0, query, std::min(block_queries, p.queries - query), 0};
      t.n = padded<T>(t.queries);
      load_queries(p, b, batch, head, t);
      const int64_t place = (batch * p.heads + head) * p.queries + query;
      const int64_t seen = p.keys_before(query + t.queries - 1), end = std::min(last, seen);
      if (careful)
        load_carefully(p, b, batch, head, t, seen);
      else if (!keeps_digits(b.log_sum, t.queries))
        return false;
      for (; t.key < end; t.key += block_keys) {
        t.keys = std::min(block_keys, end - t.key);
        backward_tile(p, b, batch, head, *out.winners, place, first, t, careful);
      }
      std::copy_n(b.rest, t.queries,
                  out.winners->rest.data() + range * out.winners->queries + place);
      // A non-finite key or value makes one channel of dQ, or all channels, non-finite for every
      // query; a non-finite query or dO makes all channels of this query non-finite.
      if (!careful && p.width > 0 &&
          !(all_finite(b.dq_columns, p.width, t.n) && all_finite(b.dq_columns, t.queries)))
        return false;
      p.loops.transpose(p.width, t.queries, {b.dq_columns, t.n, 1}, b.scales,
                        dq.data + query * dq.row, dq.row);
    }
  }
  Target<T> dk = target(out.k, out.k_data, batch, shared_head);
  Target<T> dv = target(out.v, out.v_data, batch, shared_head);
  store_rows(b.dk, b.k_lanes, last - first, p.width, {dk.data + first * dk.row, dk.row});
  store_rows(b.dv, b.v_lanes, last - first, p.value_width, {dv.data + first * dv.row, dv.row});
  return true;
}

/// Adds the contributions of the winners (keys with a weight close to 1), which were left out of
/// the products, to dQ and dK, for the query heads of one key head.
template <class T>
void add_winners(const BackwardProblem<T>& p, const Gradients<T>& out, const Tensor& dq, T* dq_data,
                 int64_t ranges, int64_t batch, int64_t shared_head) {
  const Winners<T>& w = *out.winners;
  const TileOperand<T> k = matrix<T>(p.k, batch, shared_head);
  const Target<T> dk = target(out.k, out.k_data, batch, shared_head);
  for (int64_t head = shared_head * p.group(); head < (shared_head + 1) * p.group(); ++head) {
    const TileOperand<T> q = matrix<T>(p.q, batch, head);
    const Target<T> to = target(dq, dq_data, batch, head);
    for (int64_t query = 0; query < p.queries; ++query) {
      const int64_t at = (batch * p.heads + head) * p.queries + query, key = w.key[at];
      if (key < 0) continue;
      T rest = 0;
      for (int64_t range = 0; range < ranges; ++range) rest += w.rest[range * w.queries + at];
      const T slope = -p.scale * w.slope[at] * rest;
      if (slope == 0) continue;
      for (int64_t c = 0; c < p.width; ++c) {
        to.data[query * to.row + c] += slope * k.data[key * k.row + c * k.column];
        dk.data[key * dk.row + c] += slope * q.data[query * q.row + c * q.column];
      }
    }
  }
}

template <class T>
AttentionGradients backward(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                            const AttentionOutput& forward, const AttentionSettings& settings) {
  const Problem<T> problem = make_problem<T>(q, k, v, settings);
  const BackwardProblem<T> p{problem, g, forward.output, forward.log_sum};
  const int64_t rows = p.leading.count() * p.shared_heads;
  const Ranges ranges = cut_keys(rows, p.keys);
  Shape parts{ranges.count};
  for (const int64_t size : p.leading) parts.append(size);
  Gradients<T> out{empty_laid_out(parts, q, p.queries, p.width),
                   empty_laid_out(p.leading, k, p.keys, p.width),
                   empty_laid_out(p.leading, v, p.keys, p.value_width),
                   nullptr,
                   nullptr,
                   nullptr,
                   nullptr};
  if (out.q_parts.count() == 0 && out.k.count() == 0 && out.v.count() == 0)
    return {view::select(out.q_parts, 0, 0), out.k, out.v};
  out.q_data = out.q_parts.template mutable_strided_data<T>();
  out.k_data = out.k.template mutable_strided_data<T>();
  out.v_data = out.v.template mutable_strided_data<T>();
  Winners<T> winners(p.leading.count() * p.heads * p.queries, ranges.count);
  out.winners = &winners;
  const double flops =
      5.0 * static_cast<double>(p.queries * ranges.length) *
      static_cast<double>((p.width + p.value_width) *
                          std::max<int64_t>(1, p.heads / std::max<int64_t>(1, p.shared_heads)));
  parallel::for_range(rows * ranges.count, grain(flops), [&](int64_t begin, int64_t end) {
    BackwardBuffers<T> buffers(p, ranges.length);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / ranges.count, range = i % ranges.count;
      const int64_t first = range * ranges.length;
      const int64_t last = std::min(p.keys, first + ranges.length);
      for (const bool careful : {false, true})
        if (backward_range(p, buffers, out, row / p.shared_heads, row % p.shared_heads, range,
                           first, last, careful))
          break;
    }
  });
  Tensor dq = ranges.count == 1 ? view::select(out.q_parts, 0, 0)
                                : reduce(Reduce::sum, out.q_parts, {0}, false);
  const auto none = [](int64_t key) { return key < 0; };
  if (!std::all_of(winners.key.begin(), winners.key.end(), none)) {
    T* dq_data = ranges.count == 1 ? out.q_data : dq.template mutable_strided_data<T>();
    parallel::for_range(rows, grain(flops), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        add_winners(p, out, dq, dq_data, ranges.count, row / p.shared_heads, row % p.shared_heads);
    });
  }
  return {dq, out.k, out.v};
}

}  // namespace

AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const AttentionOutput& forward,
                                      const AttentionSettings& settings) {
  if (mapped::any(g, q, k, v, settings.mask)) {
    const MappedAttention all(q, k, v, settings, g);
    const auto each = [&](const Tensor& x) { return x.defined() ? contiguous(all(x)) : x; };
    const AttentionOutput kept{each(forward.output), each(forward.log_sum)};  // may be undefined
    const AttentionGradients d =
        attention_backward(all(g), all(q), all(k), all(v), kept, all.settings);
    return {all.hide(d.q), all.hide(d.k), all.hide(d.v)};
  }
  return visit_floating("attention_backward", q.dtype(),
                        [&]<class T>() { return backward<T>(g, q, k, v, forward, settings); });
}

}  // namespace ladon::kernels
