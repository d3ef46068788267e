#pragma once
// Pointwise computation on strided tensors. No gradients are recorded: see
// autograd/ops/pointwise.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

enum class Unary;   // listed in unary.h
enum class Binary;  // listed in binary.h, as is Compare
enum class Compare;

/// The name of a function in errors and in the graph, a string literal: "exp", "add", "lt".
const char* to_string(Unary op);
const char* to_string(Binary op);
const char* to_string(Compare op);
/// Smallest dtype that fully supports the function: i64, or f32 if integers do not support it.
DType least_dtype(Unary op);
DType least_dtype(Binary op);

/// y = f(x), contiguous.
Tensor unary(Unary op, const Tensor& x);
/// y = f(a, b) with broadcasting. Throws Error if the dtypes differ.
Tensor binary(Binary op, const Tensor& a, const Tensor& b);
/// y = f(x, s) and y = f(s, x), in the dtype of x, to which s is rounded. Throws Error if s is not
/// an integer although x is i64, or not 0 or 1 although x is bool.
Tensor binary(Binary op, const Tensor& x, double s);
Tensor binary(Binary op, double s, const Tensor& x);
/// Comparison with broadcasting; the result is bool. Throws Error if the dtypes differ, or if x's
/// dtype cannot hold the number s (see binary()). Comparisons with NaN are false, except ne.
Tensor compare(Compare op, const Tensor& a, const Tensor& b);
Tensor compare(Compare op, const Tensor& x, double s);
/// condition ? a : b, with broadcasting of all three operands. a and b must have the same dtype.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// x with its elements converted to `dtype`; x itself if it has that dtype. Floating-point numbers
/// become integers by truncation toward zero; beyond the range of the integers they become the
/// nearest integer, and NaN becomes 0. As a bool, every element but 0 is true.
Tensor cast(const Tensor& x, DType dtype);
/// x if it is contiguous, else a row-major copy.
Tensor contiguous(const Tensor& x);
/// A row-major copy on new storage.
Tensor clone(const Tensor& x);
/// Writes source to destination, broadcast to its shape and cast to its dtype. The destination may
/// be strided and may overlap the source; throws Error if it is expanded.
void copy(Tensor destination, const Tensor& source);
/// x ← a·x + b·y elementwise, in place, with y broadcast to the shape of x. x and y must have the
/// same dtype, not bool. x may be strided and may overlap y; throws Error if it is expanded.
void axpby(double a, Tensor x, double b, const Tensor& y);
/// x ← f(x, y) elementwise, on the same conditions as axpby() but also for bool; f is mul, div, add
/// or sub.
void edit(Binary op, Tensor x, const Tensor& y);
/// x ← value, cast to its dtype; x may be strided.
void fill(Tensor x, double value);

}  // namespace ladon::kernels
