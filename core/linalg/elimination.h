#pragma once
// Gaussian elimination of many small matrices, for which a call of LAPACK, with its checks and
// copies, costs more than the arithmetic. No gradients are recorded: see
// autograd/ops/linalg/linalg.h.

#include "ladon/core/tensor.h"

namespace ladon::elimination {

/// Matrices of this order or less are eliminated here. LAPACK becomes faster at an order of about
/// 40.
inline constexpr std::int64_t largest_order = 24;

/// X with A·X = B for each of the matrices:  [count, n, n], [count, n, k] → [count, n, k]. Rows are
/// exchanged so that each pivot is the largest of its column. Returns an undefined tensor if an
/// element of A or B is not finite or a pivot is 0; the functions of lapack.h then throw an Error
/// that names the element or pivot.
Tensor solve(const Tensor& a, const Tensor& b);

/// The pivots of each matrix, and ±1, the sign of its row exchanges:  [count, n, n] →
/// [count, n + 1]. The determinant is the product of these n + 1 numbers. Returns an undefined
/// tensor if an element is not finite.
Tensor pivots(const Tensor& a);

}  // namespace ladon::elimination
