#pragma once
// Indexing by tensors of indices (i64). An index outside [0, size) throws Error naming it: a −1 in
// data is far more often padding or a mistake than a request for the last row. (An index written in
// the program, as in select, at and slice, may count from the end.) Gradients of repeated indices
// add up, in order.

#include <optional>

#include "ladon/core/tensor.h"

namespace ladon {

/// Selects slices along an axis:  x [.., n, ..], index [k] → [.., k, ..].
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// out[i][j].. = x[index[i][j]..][j].. along `axis`; index has x's rank, and on other axes at most
/// x's sizes. The graph keeps the index, here and below: editing it before backward() is an Error.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// x with source added at (or, for scatter, written to) the elements that gather would read. With
/// repeated indices scatter keeps the last one written, in row-major order.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source);

/// Reduces each element of x together with the source elements that scatter_add would add to it.
/// With include_self = false an element of x is used only if no source element goes there. `mean`
/// needs a floating dtype. Equal extremes share the gradient evenly; the gradient of `prod` is
/// exact where elements are zero.
enum class Scattered { sum, prod, mean, max, min };
Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                      Scattered by, bool include_self = true);

/// Selects rows of a table:  weight [n, d], index [..] → [.., d]. The row `padding_index`, if ≥ 0,
/// gets no gradient. Throws Error for an index outside [0, n).
struct EmbeddingLookupOptions {
  std::int64_t padding_index = -1;
};
Tensor embedding(const Tensor& weight, const Tensor& index, EmbeddingLookupOptions options = {});

/// [..] → [.., classes]: 1 at the index, 0 elsewhere.
Tensor one_hot(const Tensor& index, std::int64_t classes, DType dtype = f32);

/// The elements where mask (bool, x's shape) is true, in row-major order: [k].
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// Indices (i64, [k, rank]) of the elements that are not zero, in row-major order.
Tensor nonzero(const Tensor& x);

/// The distinct elements of x in ascending order, NaN last, each NaN distinct from the others; or
/// with an axis its distinct slices, in lexicographic order. The gradient of a value goes to its
/// first occurrence.
struct UniqueElements {
  Tensor values;   ///< [k]; or x's shape with k along the axis.
  Tensor first;    ///< [k]: index of its first occurrence, in row-major order.
  Tensor inverse;  ///< x's shape, or [n] along an axis: index in `values` of each element.
  Tensor counts;   ///< [k]: number of occurrences. All three are i64.
};
UniqueElements unique(const Tensor& x, std::optional<int> axis = {});

}  // namespace ladon
