#pragma once
// The list of reductions. It stands apart as unary.h does.

namespace ladon::kernels {

/// Sums of booleans and integers are i64. The reduction of nothing is 0, 1, −∞, +∞, false, true for
/// sum, prod, max, min, any, all; max and min of integers over nothing throw Error. NaN propagates
/// through max and min, and counts as true.
enum class Reduce { sum, prod, max, min, any, all, sum_squares, sum_abs, count };

}  // namespace ladon::kernels
