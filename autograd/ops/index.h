#pragma once
// Indexing by tensors of indices (i64). An index outside [0, size) throws Error naming it: a −1 in
// data is padding or a mistake far more often than a wish for the last row. (A position written in
// the program, as in select, at and slice, may count from the end.) Gradients of repeated indices
// add up, in order.

#include "ladon/core/tensor.h"

namespace ladon {

/// Rows of an axis:  x [.., n, ..], index [k] → [.., k, ..].
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// out[i][j].. = x[index[i][j]..][j].. along `axis`; index has x's rank, and at most its sizes off
/// the axis.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// x with source added at (or, for scatter, written to) the places that gather would read. With
/// repeated indices scatter keeps the last written in row-major order.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source);

/// Rows of a table:  weight [n, d], index [..] → [.., d]. `padding_index` ≥ 0: that row gets no
/// gradient. Throws Error for a token outside [0, n).
struct EmbeddingOptions {
  std::int64_t padding_index = -1;
};
Tensor embedding(const Tensor& weight, const Tensor& index, EmbeddingOptions options = {});

/// [..] → [.., classes]: 1 at the index, 0 elsewhere.
Tensor one_hot(const Tensor& index, std::int64_t classes, DType dtype = f32);

/// The elements where mask (bool, x's shape) is true, in row-major order: [k].
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// Indices (i64, [k, rank]) of the elements that are not zero, in row-major order.
Tensor nonzero(const Tensor& x);

}  // namespace ladon
