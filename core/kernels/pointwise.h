#pragma once
// Pointwise computation on strided tensors. No gradients: see autograd/ops/pointwise.h.

#include "ladon/core/tensor.h"

namespace ladon::kernels {

enum class Unary;   // listed in unary.h
enum class Binary;  // listed in binary.h, as is Compare
enum class Compare;

/// The name of a function, as in errors and in the graph: "exp", "add", "lt". A literal.
const char* to_string(Unary op);
const char* to_string(Binary op);
const char* to_string(Compare op);
/// Smallest dtype that fully supports the function: i64, or f32 if integers do not support it.
DType least_dtype(Unary op);
DType least_dtype(Binary op);

/// y = f(x), contiguous.
Tensor unary(Unary op, const Tensor& x);
/// y = f(a, b) with broadcasting; both of one dtype (Error).
Tensor binary(Binary op, const Tensor& a, const Tensor& b);
/// y = f(x, s) and y = f(s, x), in x's dtype: s is rounded to it; for integers (booleans) it must
/// be an integer (0 or 1), else Error.
Tensor binary(Binary op, const Tensor& x, double s);
Tensor binary(Binary op, double s, const Tensor& x);
/// Boolean result, with broadcasting; both of one dtype (Error). Comparisons with NaN are false,
/// except ne. s as above.
Tensor compare(Compare op, const Tensor& a, const Tensor& b);
Tensor compare(Compare op, const Tensor& x, double s);
/// condition ? a : b, with broadcasting of all three. a and b of one dtype.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);

/// Elements converted to another dtype (x itself if it has it). Float → integer truncates toward
/// zero, gives the nearest integer of the dtype beyond its range, and 0 for NaN; → bool is true
/// except for 0.
Tensor cast(const Tensor& x, DType dtype);
/// x if it is contiguous, else a row-major copy.
Tensor contiguous(const Tensor& x);
/// A row-major copy on new storage.
Tensor clone(const Tensor& x);
/// destination ← source, broadcast to its shape and cast to its dtype; the destination may be
/// strided, but not expanded (Error), and may overlap the source.
void copy(Tensor destination, const Tensor& source);
/// x ← a·x + b·y elementwise with y broadcast to x, in place; one dtype, not boolean. x may be
/// strided, but not expanded (Error), and may overlap y.
void axpby(double a, Tensor x, double b, const Tensor& y);
/// x ← f(x, y) elementwise, with axpby's conditions, but also for bool; f is mul, div, add or sub.
void edit(Binary op, Tensor x, const Tensor& y);
/// x ← value, cast to its dtype; x may be strided.
void fill(Tensor x, double value);

}  // namespace ladon::kernels
