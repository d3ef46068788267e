#pragma once
// Indexing by tensors of indices (i64). An index outside [0, size) throws Error naming it: a −1 in
// data is far more often padding or a mistake than a request for the last row. (The integer
// arguments of select, at and slice may be negative, and then count from the end.) Gradients of
// elements that are selected several times add up, in the order of the indices.

#include <optional>

#include "ladon/core/tensor.h"

namespace ladon {

/// Selects k of the n slices along an axis:  x [.., n, ..], index [k] → [.., k, ..].
Tensor index_select(const Tensor& x, int axis, const Tensor& index);

/// Selects an element of x along `axis` for each element of `index`, like torch.gather. For axis 0:
/// y[i][j].. = x[index[i][j]..][j]..; `index` has the rank of x and, on all axes but `axis`, at
/// most the sizes of x. The graph keeps `index`, here and in the functions below: backward() throws
/// Error if it was edited.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

/// A copy of x in which `source` is added to (scatter_add) or overwrites (scatter) those elements
/// that gather(x, axis, index) would read. If several elements of `source` overwrite the same
/// element, the last in row-major order counts.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source);
Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source);

/// Reduces each element of x together with the source elements that scatter_add would add to it.
/// With include_self = false an element of x is left out of the reduction if there is at least one
/// such source element. `mean` needs a floating dtype. Equal maxima (minima) share the gradient
/// evenly; the gradient of `prod` is exact even if elements are zero, as long as the
/// partial products, in the order of the elements, are in the range of the dtype.
enum class Scattered { sum, prod, mean, max, min };
Tensor scatter_reduce(const Tensor& x, int axis, const Tensor& index, const Tensor& source,
                      Scattered by, bool include_self = true);

/// Selects rows of a table:  weight [n, d], index [..] → [.., d]. The row `padding_index`, if ≥ 0,
/// gets no gradient. Throws Error for an index outside [0, n).
struct EmbeddingLookupOptions {
  std::int64_t padding_index = -1;
};
Tensor embedding(const Tensor& weight, const Tensor& index, EmbeddingLookupOptions options = {});

/// One-hot vectors of indices:  [..] → [.., classes], with 1 at the index and 0 elsewhere.
Tensor one_hot(const Tensor& index, std::int64_t classes, DType dtype = f32);

/// The k elements of x where mask (bool, of x's shape) is true, in row-major order: [k].
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// Indices (i64, [k, rank]) of the k elements that are not zero, in row-major order.
Tensor nonzero(const Tensor& x);

/// The k distinct elements of x in ascending order, or, with an axis of size n, its k distinct
/// slices in lexicographic order. NaN comes last, and each NaN counts as a distinct element. The
/// gradient of a value goes to its first occurrence in x.
struct UniqueElements {
  Tensor values;   ///< [k]; or x's shape with k along the axis.
  Tensor first;    ///< i64 [k]: index of each value's first occurrence, in row-major order.
  Tensor inverse;  ///< i64, x's shape, or [n] with an axis: index of each element in `values`.
  Tensor counts;   ///< i64 [k]: number of occurrences of each value.
};
UniqueElements unique(const Tensor& x, std::optional<int> axis = {});

}  // namespace ladon
