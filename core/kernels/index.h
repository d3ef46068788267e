#pragma once
// Reading and writing at indices. If several values are added to the same element, they are added
// in the order of their positions, at any number of threads. No gradients are recorded: see
// autograd/ops/index.h.

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
/// Adjoint of take_rows: zeros [.., n, ..], with slice i of x [.., k, ..] added to slice rows[i]
/// unless rows[i] is −1.
Tensor add_rows(const Tensor& x, int axis, const Tensor& rows, std::int64_t n);

/// y with the shape of `index`: y_p, at position p, is the element of x at p with the coordinate
/// along `axis` replaced by index_p. index must be checked already (checked_indices), have x's
/// rank, and be no larger than x along the other axes.
Tensor gather(const Tensor& x, int axis, const Tensor& index);
/// Combines source_p with the element of y that gather(y, axis, index) reads for position p, in
/// place and in row-major order of p: overwrites it, adds to it, or keeps the larger (max) or
/// smaller (min) of both, and NaN if either is NaN. source has index's shape and y's dtype.
enum class Scatter { write, add, max, min };
void scatter(Scatter op, Tensor y, int axis, const Tensor& index, const Tensor& source);

/// Copies the parts to y, one after the other along an axis, cast to y's dtype; y is contiguous.
void join(const std::vector<Tensor>& parts, int axis, Tensor y);

/// Indices of the elements that are not zero (i64 [k, rank]), row-major.
Tensor nonzero(const Tensor& x);
/// The elements of x where mask (bool, of its shape) is true, in row-major order: [k].
Tensor masked_elements(const Tensor& x, const Tensor& mask);
/// Adjoint of masked_elements: zeros of mask's shape, with the elements of x [k] where the mask is
/// true. Throws Error if k differs from the number of true elements.
Tensor put_masked(const Tensor& x, const Tensor& mask);

/// The k runs of equal elements in a sorted list of n elements. `first` (i64 [k]): index of the
/// first element of each run in the unsorted list. `counts` (i64 [k]): length of each run. `which`
/// (i64 [n]): the run to which each element of the unsorted list belongs.
struct Runs {
  Tensor first, counts, which;
};
/// order: the permutation that sorts the list, i64 [n]. begins: bool [n], true where a run begins
/// in the sorted list.
Runs runs_of(const Tensor& order, const Tensor& begins);

}  // namespace ladon::kernels
