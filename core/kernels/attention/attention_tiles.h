#pragma once
// Code that the forward and the backward kernel of attention share: addresses of heads, and the
// logits of one tile. Private to the .cpp files of this folder.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/core/kernels/attention/attention.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels::tiles {

using std::int64_t;

inline constexpr int64_t block_queries = 64, block_keys = 64;
inline constexpr double log2_e = 1.4426950408889634;
template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();

inline int64_t blocks(int64_t n, int64_t size) { return (n + size - 1) / size; }
template <class T>
int64_t padded(int64_t n) {
  return blocks(n, tile_lanes<T>) * tile_lanes<T>;
}

/// The operands of attention with their leading axes broadcast. A batch index counts over all
/// leading axes.
template <class T>
struct Problem {
  Tensor q, k, v, mask;
  Shape leading;
  int64_t heads, shared_heads, queries, keys, width, value_width;
  bool causal;
  int64_t offset;
  T scale;
  T limit;         ///< The softcap in base 2, or 0 if there is none.
  T query_factor;  ///< Factor of q·k that gives the logit in base 2, or the argument of cap().
  const AttentionLoops<T>& loops;

  int64_t group() const { return heads / shared_heads; }
  /// Number of keys that at least one of the queries 0 … `query` sees.
  int64_t keys_before(int64_t query) const {
    return causal ? std::clamp<int64_t>(query + offset + 1, 0, keys) : keys;
  }
};

/// The operands of attention inside vmap, where some are mapped tensors (core/mapped.h), each with
/// the examples of vmap as an axis before all leading axes.
struct MappedAttention {
  MappedAttention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionSettings of_one,
                  const Tensor& g = {})
      : levels(mapped::levels({&q, &k, &v, &of_one.mask, &g})),
        rank(std::max({q.rank(), k.rank(), v.rank()})),
        settings(std::move(of_one)) {
    settings.mask = mapped::show(mapped::repeat(settings.mask, levels), rank);
  }
  Tensor operator()(const Tensor& x) const { return mapped::spread(x, levels, rank); }
  Tensor hide(const Tensor& result) const { return mapped::hide(result, levels); }

  mapped::Levels levels;
  int rank;
  AttentionSettings settings;
};

inline Tensor broadcast_leading(const Tensor& x, const Shape& leading) {
  Shape shape = leading;
  for (int axis = -3; axis < 0; ++axis) shape.append(x.size(axis));
  return view::expand(x, shape);
}

/// An additive mask whose finite elements stay finite after multiplication by log2(e). If the
/// magnitude of an element is above a quarter of the dtype's largest number, the excess is halved.
/// Order and ties are kept, and unequal elements of such magnitude still differ by enough that the
/// larger takes all the weight.
template <class T>
Tensor within_range(const Tensor& mask) {
  constexpr T bend = std::numeric_limits<T>::max() / 4;
  const auto beyond = [](T x) {  // without branches, so that it becomes vector code
    return ((std::abs(x) > bend ? 1 : 0) & (std::abs(x) < infinity<T> ? 1 : 0)) != 0;
  };
  const Tensor x = contiguous(mask);
  const T* from = x.data<T>();
  int any = 0;
  for (int64_t i = 0, n = x.count(); i < n; ++i) any |= beyond(from[i]) ? 1 : 0;
  if (any == 0) return mask;
  Tensor y = empty(x.shape(), x.dtype());
  std::transform(from, from + x.count(), y.mutable_data<T>(), [beyond](T v) {
    return beyond(v) ? std::copysign(bend + (std::abs(v) - bend) / 2, v) : v;
  });
  return y;
}

template <class T>
Problem<T> make_problem(const Tensor& q, const Tensor& k, const Tensor& v,
                        const AttentionSettings& s) {
  const auto leading_of = [](const Tensor& x) { return x.shape().sub(0, x.rank() - 3); };
  const Shape leading = broadcast_shapes(
      "attention", broadcast_shapes("attention", leading_of(q), leading_of(k)), leading_of(v));
  Tensor mask = s.mask;
  if (mask.defined() && mask.dtype() != boolean) mask = within_range<T>(mask);
  if (mask.defined()) {
    Shape shape = leading;
    for (const int64_t size : {q.size(-3), q.size(-2), k.size(-2)}) shape.append(size);
    mask = view::expand(mask, shape);
  }
  return {broadcast_leading(q, leading),
          broadcast_leading(k, leading),
          broadcast_leading(v, leading),
          mask,
          leading,
          q.size(-3),
          k.size(-3),
          q.size(-2),
          k.size(-2),
          q.size(-1),
          v.size(-1),
          s.causal,
          std::clamp<int64_t>(s.causal_offset, -q.size(-2), k.size(-2)),
          static_cast<T>(s.scale),
          static_cast<T>(s.softcap * log2_e),
          static_cast<T>(s.softcap > 0 ? s.scale / s.softcap : s.scale * log2_e),
          loops().of<T>().attention};
}

// --- addresses ---

/// Offset in x of the matrix of one head and one batch index.
inline int64_t place(const Tensor& x, int64_t batch, int64_t head) {
  int64_t offset = head * x.strides()[x.rank() - 3];
  for (int axis = x.rank() - 4; axis >= 0; --axis) {
    offset += batch % x.shape()[axis] * x.strides()[axis];
    batch /= x.shape()[axis];
  }
  return offset;
}

template <class T>
TileOperand<T> matrix(const Tensor& x, int64_t batch, int64_t head) {
  return {x.strided_data<T>() + place(x, batch, head), x.strides()[x.rank() - 2],
          x.strides()[x.rank() - 1]};
}

/// A matrix that is written to; rows are `row` elements apart.
template <class T>
struct Target {
  T* data;
  int64_t row;
};
template <class T>
Target<T> target(const Tensor& x, T* data, int64_t batch, int64_t head) {
  return {data + place(x, batch, head), x.strides()[x.rank() - 2]};
}

/// Uninitialized tensor [leading, heads, time, width]. It is a view of
/// [leading, time, heads, width] if `like` is such a view: a layer that split its channels into
/// heads can then join the heads without a copy.
inline Tensor empty_laid_out(const Shape& leading, const Tensor& like, int64_t time,
                             int64_t width) {
  const int rank = leading.rank() + 3;
  const int64_t heads = like.size(-3);
  const bool time_first =
      like.strides()[like.rank() - 3] < like.strides()[like.rank() - 2] && heads > 1;
  Shape shape = leading;
  for (const int64_t size : {time_first ? time : heads, time_first ? heads : time, width})
    shape.append(size);
  const Tensor x = empty(shape, like.dtype());
  return time_first ? view::transpose(x, rank - 3, rank - 2) : x;
}

/// Scratch memory of one task.
template <class T>
class Workspace {
 public:
  T* take(int64_t count) {
    held_.emplace_back(static_cast<std::size_t>(count) * sizeof(T));
    return reinterpret_cast<T*>(held_.back().bytes());
  }

 private:
  std::vector<Storage> held_;
};

/// y [columns, n] ← (x·diag(factors))ᵀ for x [rows, columns]; columns of y from `rows` on become 0.
template <class T>
void load_transposed(const Problem<T>& p, TileOperand<T> x, int64_t rows, int64_t columns,
                     const T* factors, T* y, int64_t n) {
  p.loops.transpose(rows, columns, x, factors, y, n);
  for (int64_t c = 0; rows < n && c < columns; ++c)
    std::fill(y + c * n + rows, y + c * n + n, T(0));
}

/// y [rows, n] ← factor·x for x [rows, columns], padded with 0.
template <class T>
void load(TileOperand<T> x, int64_t rows, int64_t columns, T factor, T* y, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = x.data + r * x.row;
    T* to = y + r * n;
    for (int64_t c = 0; c < columns; ++c) to[c] = factor * from[c * x.column];
    std::fill(to + columns, to + n, T(0));
  }
}

// --- logits of one tile ---

/// A tile of logits [keys, n], for keys [key, key + keys) and queries [query, query + queries); the
/// queries are padded to n lanes.
struct Tile {
  int64_t key, keys, query, queries, n;
};

/// Buffers for a tile of the mask, transposed to the layout of the logits. (Values in lanes beyond
/// the last query do not matter.)
template <class T>
struct MaskTile {
  MaskTile(const Problem<T>& p, Workspace<T>& workspace) {
    if (!p.mask.defined()) return;
    turned = workspace.take(block_keys * block_queries);
    factors = workspace.take(block_keys);
    std::fill_n(turned, block_keys * block_queries, T(0));
    std::fill_n(factors, block_keys, static_cast<T>(log2_e));
  }
  T *turned = nullptr, *factors = nullptr;
};

/// Sets logits s to −∞ where the boolean mask is false.
template <class T>
void hide(const Problem<T>& p, TileOperand<bool> mask, const Tile& t, const MaskTile<T>& tile,
          T* s) {
  mask.data += t.query * mask.row + t.key * mask.column;
  if (mask.row == 0) {  // the same for all queries
    for (int64_t i = 0; i < t.keys; ++i)
      if (!mask.data[i * mask.column]) std::fill_n(s + i * t.n, t.n, -infinity<T>);
    return;
  }
  bool* turned = reinterpret_cast<bool*>(tile.turned);
  if (mask.column == 1)
    loops().boolean.transpose(t.queries, t.keys, mask.data, mask.row, turned, t.n);
  else
    for (int64_t i = 0; i < t.keys; ++i)
      for (int64_t j = 0; j < t.queries; ++j)
        turned[i * t.n + j] = mask.data[j * mask.row + i * mask.column];
  p.loops.hide(turned, s, t.keys * t.n);
}

/// Sets s to −∞ where −∞ was added to it.
template <class T>
void hide_forbidden(const T* added, int64_t count, T* s) {
  for (int64_t i = 0; i < count; ++i)
    if (added[i] == -infinity<T>) s[i] = -infinity<T>;
}

/// Whether the mask is the same for all queries and hides every key of the tile.
inline bool hides(TileOperand<bool> mask, const Tile& t) {
  if (mask.row != 0) return false;
  for (int64_t i = t.key; i < t.key + t.keys; ++i)
    if (mask.data[i * mask.column]) return false;
  return true;
}

// --- numbers that are not finite ---
//
// A key that a query may not attend to has weight 0, and must contribute nothing, even if its
// elements are not finite. In a product of tiles, however, 0·NaN would be NaN. So a block with a
// non-finite result is computed again ("carefully"): the product takes only the finite elements,
// and the non-finite elements are added where their weight is not 0. For blocks with finite results
// the only cost is the check.

/// Whether n numbers, which are `step` apart, are all finite.
template <class T>
bool all_finite(const T* x, int64_t n, int64_t step = 1) {
  int others = 0;  // counted without branches, so that it becomes vector code
  for (int64_t i = 0; i < n; ++i) others |= std::abs(x[i * step]) < infinity<T> ? 0 : 1;
  return others == 0;
}

template <class T>
struct NotFinite {
  int64_t row, column;
  T value;
};

/// y [rows, n] ← factor·x for x [rows, columns], padded with 0, and 0 where factor·x is not finite;
/// returns the non-finite elements.
template <class T>
std::vector<NotFinite<T>> load_finite(TileOperand<T> x, int64_t rows, int64_t columns, T* y,
                                      int64_t n, T factor = T(1)) {
  load(x, rows, columns, factor, y, n);
  std::vector<NotFinite<T>> rest;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      if (T& value = y[r * n + c]; !std::isfinite(value)) {
        rest.push_back({r, c, value});
        value = 0;
      }
  return rest;
}

/// y[c, i] += weights[r, i]·x[r, c] over the non-finite elements of x, where the weight is not 0.
/// Rows of y and of the weights have n elements.
template <class T>
void add_columns(const std::vector<NotFinite<T>>& x, const T* weights, int64_t n, T* y) {
  for (const auto& [row, column, value] : x)
    for (int64_t i = 0; i < n; ++i)
      if (weights[row * n + i] != 0) y[column * n + i] += weights[row * n + i] * value;
}

/// y[k, c] += weights[k, r]·x[r, c] over the non-finite elements of x, where the weight is not 0.
/// The weights have `keys` rows of n elements, y has `keys` rows of n_y elements.
template <class T>
void add_rows(const std::vector<NotFinite<T>>& x, const T* weights, int64_t keys, int64_t n, T* y,
              int64_t n_y) {
  for (const auto& [row, column, value] : x)
    for (int64_t k = 0; k < keys; ++k)
      if (weights[k * n + row] != 0) y[k * n_y + column] += weights[k * n + row] * value;
}

/// Computes the logits of a tile, in base 2: keys [keys, width] · queries [width, n] → s [keys, n].
/// Copies the argument of the softcap to `uncapped` if this is not null. Returns false if a boolean
/// mask hides all keys of the tile. If `careful`, −∞ in an additive mask hides NaN too.
template <class T>
bool tile_logits(const Problem<T>& p, int64_t batch, int64_t head, const Tile& t, TileOperand<T> k,
                 const T* queries, const MaskTile<T>& mask, T* s, T* uncapped, bool careful) {
  const bool boolean_mask = p.mask.defined() && p.mask.dtype() == boolean;
  if (boolean_mask && hides(matrix<bool>(p.mask, batch, head), t)) return false;
  k.data += t.key * k.row;
  p.loops.multiply(t.keys, t.n, p.width, k, queries, t.n, nullptr, s, t.n);
  if (p.limit > 0) {
    if (uncapped) std::copy_n(s, t.keys * t.n, uncapped);
    p.loops.cap(p.limit, s, t.keys * t.n);
  }
  if (boolean_mask) {
    hide(p, matrix<bool>(p.mask, batch, head), t, mask, s);
  } else if (p.mask.defined()) {
    TileOperand<T> added = matrix<T>(p.mask, batch, head);
    added.data += t.query * added.row + t.key * added.column;
    p.loops.transpose(t.queries, t.keys, added, mask.factors, mask.turned, t.n);
    p.loops.add(mask.turned, s, t.keys * t.n);
    if (careful) hide_forbidden(mask.turned, t.keys * t.n, s);
  }
  for (int64_t i = 0; p.causal && i < t.keys; ++i) {
    const int64_t first = t.key + i - p.offset - t.query;  // the first query that sees this key
    if (first > 0) std::fill_n(s + i * t.n, std::min(first, t.n), -infinity<T>);
  }
  return true;
}

/// Number of items in one task, chosen so that they take much longer than starting the task.
inline int64_t grain(double flops_per_item) {
  return std::max<int64_t>(1, static_cast<int64_t>(4e6 / std::max(flops_per_item, 1.0)));
}

}  // namespace ladon::kernels::tiles
