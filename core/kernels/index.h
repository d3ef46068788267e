#pragma once
// Reading and writing at indices. A row that receives several contributions adds them in their
// order, at any number of threads. No gradients: see autograd/ops/index.h.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// A row-major copy of `index` (i64). Throws Error naming `operation` for another dtype, and for an
/// index outside [0, n).
Tensor checked_indices(std::string_view operation, const Tensor& index, std::int64_t n);

/// [.., n, ..] → [.., k, ..]: slice i along `axis` is slice rows[i] of x, or zeros where rows[i] is
/// −1. rows [k] must be checked already (checked_indices).
Tensor take_rows(const Tensor& x, int axis, const Tensor& rows);
/// The adjoint: zeros [.., n, ..], with slice i of x [.., k, ..] added to slice rows[i] unless that
/// is −1.
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n);

/// y_p = x at the coordinates of p, with the one along `axis` replaced by index_p. index must be
/// checked already, have x's rank, and be no larger than x along the other axes.
Tensor gather(const Tensor& x, int axis, const Tensor& index);
/// Writes source_p to the element of y that gather would read at p, in row-major order, or adds it,
/// or keeps the larger (smaller) of both, NaN if either is; source has index's shape and y's dtype.
/// In place.
enum class Scatter { write, add, max, min };
void scatter(Scatter op, Tensor y, int axis, const Tensor& index, const Tensor& source);

/// y ← the parts one after the other along an axis, cast to its dtype; y is contiguous.
void join(const std::vector<Tensor>& parts, int axis, Tensor y);

/// Indices of the elements that are not zero (i64 [k, rank]), row-major.
Tensor nonzero(const Tensor& x);
/// The elements of x where mask (bool, of its shape) is true, in row-major order: [k].
Tensor masked_elements(const Tensor& x, const Tensor& mask);
/// The adjoint: zeros of mask's shape, with the elements of x [k] where it is true. Throws Error
/// for another number of elements.
Tensor put_masked(const Tensor& x, const Tensor& mask);

/// Runs of equal elements of a list in sorted order. For each of k runs: the index of its first
/// element in the unsorted list, and its length (i64 [k]). `which`: the run of each element of the
/// unsorted list (i64 [n]).
struct Runs {
  Tensor first, counts, which;
};
/// order: a permutation, i64 [n]; begins: bool [n], true where a run begins.
Runs runs_of(const Tensor& order, const Tensor& begins);

}  // namespace ladon::kernels
