#pragma once
// List of reductions. It is a separate header, so that a new reduction recompiles only the loops
// and the files that name reductions.

namespace ladon::kernels {

/// Sums of booleans and integers are i64. The reduction of no elements is 0 for sum, 1 for prod, −∞
/// for max, +∞ for min, false for any and true for all; max and min of no integers throw Error. NaN
/// propagates through max and min; any and all count it as true.
enum class Reduce { sum, prod, max, min, any, all, sum_squares, sum_abs, count };

}  // namespace ladon::kernels
