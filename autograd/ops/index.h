#pragma once
// Indexing by tensors of indices (i64). An index outside [0, size) throws Error naming it: a −1 in
// data is padding or a mistake far more often than a wish for the last row. (A position written in
// the program, as in select, at and slice, may count from the end.) Gradients of repeated indices
// add up, in order.

#include <optional>

#include "ladon/core/tensor.h"

namespace ladon {

/// Rows of an axis:  x [.., n, ..], index [k] → [.., k, ..].
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// out[i][j].. = x[index[i][j]..][j].. along `axis`; index has x's rank, and at most its sizes off
/// the axis. The graph keeps the index, here and below: an edit before backward() is an Error.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// x with source added at (or, for scatter, written to) the places that gather would read. With
/// repeated indices scatter keeps the last written in row-major order.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source);

/// x with every element reduced together with the source elements that scatter_add would add to it.
/// x itself takes part, or (include_self = false) only where nothing is scattered to. `mean` needs
/// a floating dtype; equal extremes share the gradient evenly, and that of `prod` is exact where
/// elements are zero.
enum class Scattered { sum, prod, mean, max, min };
Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                      Scattered by, bool include_self = true);

/// Rows of a table:  weight [n, d], index [..] → [.., d]. `padding_index` ≥ 0: that row gets no
/// gradient. Throws Error for a token outside [0, n).
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

/// The different elements of x in ascending order, NaN last, each as itself; or its different
/// slices along an axis, in lexicographic order. Gradients of `values` go to the first of the equal
/// ones.
struct UniqueElements {
  Tensor values;   ///< [k]; or x's shape with k along the axis.
  Tensor first;    ///< [k]: the first place of each, in row-major order.
  Tensor inverse;  ///< x's shape, or [n] along an axis: which of them each one is.
  Tensor counts;   ///< [k]: how many there are of each. All three i64.
};
UniqueElements unique(const Tensor& x, std::optional<int> axis = {});

}  // namespace ladon
