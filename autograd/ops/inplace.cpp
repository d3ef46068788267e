#include "ladon/autograd/ops/inplace.h"

#include "ladon/autograd/leaf.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/kernels/binary.h"

namespace ladon {
namespace {

/// Throws Error if x is expanded. Kernels throw too, but name themselves, not the edit.
void check_not_expanded(const char* operation, const Tensor& x) {
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(x.shape()[i] <= 1 || x.strides()[i] != 0, operation,
                "cannot write to an expanded tensor of shape ", x.shape(), ": axis ", i,
                " repeats one element; clone the tensor first");
}

/// Throws Error if x records history, since the graph would not include the edit, or is expanded.
void check_editable(const char* operation, const Tensor& x) {
  check_defined(operation, {x});
  LADON_CHECK(!recorded({x}), operation, "the tensor of shape ", x.shape(),
              " records history, so an edit in place would be missing in the graph; edit it under "
              "NoGrad, or edit a detached copy");
  check_not_expanded(operation, x);
}

/// Checks y as the source of an edit of x, and casts it to x's dtype.
Tensor source(const char* operation, const Tensor& x, const Tensor& y) {
  check_editable(operation, x);
  check_defined(operation, {y});
  LADON_CHECK(
      !recorded({y}), operation,
      "the source records history, which the edit would lose; detach it, or edit under NoGrad");
  LADON_CHECK(broadcast_shapes(operation, x.shape(), y.shape()) == x.shape(), operation,
              "the source of shape ", y.shape(), " does not broadcast to x's shape ", x.shape());
  return kernels::cast(y, x.dtype());
}

/// x ← result, where result was computed from x.
Tensor& assign(const char* operation, Tensor& x, const Tensor& result) {
  LADON_CHECK(result.shape() == x.shape(), operation, "the result has shape ", result.shape(),
              ", x ", x.shape(), "; an edit in place keeps x's shape");
  LADON_CHECK(
      result.dtype() == x.dtype() || (is_floating(result.dtype()) && is_floating(x.dtype())),
      operation, "the result is ", result.dtype(), ", but x ", x.dtype(),
      "; an edit in place keeps x's dtype: convert x with cast first");
  if (result.requires_grad() || result.tangent()) {
    x = cast(result, x.dtype());
    return x;
  }
  check_not_expanded(operation, x);
  kernels::copy(x, result);
  return x;
}

/// Returns x. Throws Error if it is a leaf that requires a gradient: x = f(x) would replace the
/// leaf.
const Tensor& not_leaf(const char* operation, const Tensor& x) {
  LADON_CHECK(!recorded({x}) || Leaf::of(x) == nullptr, operation, "the tensor of shape ",
              x.shape(), " is a leaf that requires a gradient; edit it under NoGrad");
  return x;
}

/// Whether an elementwise f(x, y) may be written over x during the computation: if nothing is
/// recorded, broadcast or converted, and x and y share no memory.
bool plain(const Tensor& x, const Tensor& y) {
  return x.defined() && y.defined() && x.dtype() == y.dtype() && is_floating(x.dtype()) &&
         x.shape() == y.shape() && !recorded({x, y}) && !(x.storage() == y.storage());
}

/// x ← f(x, y), where `op` is the kernel of f.
Tensor& edit(const char* operation, kernels::Binary op, Tensor& x, const Tensor& y,
             Tensor (*f)(const Tensor&, const Tensor&)) {
  if (!plain(x, y)) return assign(operation, x, f(not_leaf(operation, x), y));
  check_not_expanded(operation, x);
  kernels::edit(op, x, y);
  return x;
}

}  // namespace

Tensor& operator+=(Tensor& x, const Tensor& y) {
  return edit("operator+=", kernels::Binary::add, x, y, add);
}
Tensor& operator-=(Tensor& x, const Tensor& y) {
  return edit("operator-=", kernels::Binary::sub, x, y, sub);
}
Tensor& operator*=(Tensor& x, const Tensor& y) {
  return edit("operator*=", kernels::Binary::mul, x, y, mul);
}
Tensor& operator/=(Tensor& x, const Tensor& y) {
  return edit("operator/=", kernels::Binary::div, x, y, div);
}
Tensor& operator+=(Tensor& x, double s) {
  return assign("operator+=", x, not_leaf("operator+=", x) + s);
}
Tensor& operator-=(Tensor& x, double s) {
  return assign("operator-=", x, not_leaf("operator-=", x) - s);
}
Tensor& operator*=(Tensor& x, double s) {
  return assign("operator*=", x, not_leaf("operator*=", x) * s);
}
Tensor& operator/=(Tensor& x, double s) {
  return assign("operator/=", x, not_leaf("operator/=", x) / s);
}

void fill_(Tensor x, double value) {
  check_editable("fill_", x);
  LADON_CHECK(holds(x.dtype(), value), "fill_", value, " is not representable in ", x.dtype(),
              "; fill a floating tensor");
  kernels::fill(x, value);
}

void copy_(Tensor x, const Tensor& y) { kernels::copy(x, source("copy_", x, y)); }

void add_(Tensor x, const Tensor& y, double alpha) {
  check_number("add_", x, alpha);
  kernels::axpby(1, x, alpha, source("add_", x, y));
}

void mul_(Tensor x, double s) {
  check_editable("mul_", x);
  check_number("mul_", x, s);
  kernels::axpby(s, x, 0, scalar(0, x.dtype()));
}

void mul_(Tensor x, const Tensor& y) {
  kernels::edit(kernels::Binary::mul, x, source("mul_", x, y));
}

}  // namespace ladon
