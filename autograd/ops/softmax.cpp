#include "ladon/autograd/ops/softmax.h"

#include <cmath>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/reductions/softmax.h"

namespace ladon {
namespace {

// The difference 1 − p is inaccurate, because of cancellation, where a probability p is close to 1.
// The gradients below avoid it: since the gradients of a row sum to 0, the gradient of its largest
// element is minus the sum of the other gradients.

/// Index of the largest element along `axis`, which is kept with size 1.
Tensor winner(const Tensor& y, int axis) { return argmax(y.detach(), axis, keep_dims); }

/// Jᵀg = g − exp(y)·Σg for y = log_softmax(x) along `axis`. Its element at the largest y is
/// computed as minus the sum of the other elements.
Tensor log_softmax_gradient(const Tensor& g, const Tensor& y, int axis) {
  if (y.size(axis) == 0) return g;
  const Tensor all = sum(g, axis, keep_dims);
  const Tensor lost = logical_and(isnan(y), equal(all, 0));  // NaN in a row that the loss ignores
  const Tensor terms = g - where(lost, 0, exp(y)) * all;
  Shape along = Shape::filled(y.rank(), 1);
  along[axis] = y.size(axis);
  const Tensor first = equal(reshape(arange(y.size(axis)), along), winner(y, axis));
  const Tensor others = where(first, 0, terms);
  const Tensor balanced = where(first, -sum(others, axis, keep_dims), others);
  const Tensor masked = equal(amax(y.detach(), axis, keep_dims), -HUGE_VAL);
  return where(masked, 0, balanced);
}

}  // namespace

// Jᵀg = y ∘ (g − ⟨g, y⟩) for y = softmax(x) along `axis`. The value of g at the largest y is
// subtracted from g first, which leaves Jᵀg the same, since Jᵀ maps constants to 0.
Tensor detail::softmax_gradient(const Tensor& g, const Tensor& y, int axis) {
  if (y.size(axis) == 0) return g;
  const Tensor beside = g - gather(g, axis, winner(y, axis));
  return y * (beside - sum(beside * y, axis, keep_dims));
}

Tensor softmax(const Tensor& x, int axis) {
  check_floating("softmax", x);
  const int a = detail::normalize_axis("softmax", axis, x.rank());
  const auto rule = [a](const Tensor& g, const Tensor& y) {  // J = diag y − y·yᵀ
    return fast_or_composed(
        "softmax_gradient", {g, y}, [&] { return kernels::softmax_backward(g, y, a); },
        [&] { return detail::softmax_gradient(g, y, a); });
  };
  return record("softmax", kernels::softmax(x, a), {x}, symmetric(rule));
}

Tensor log_softmax(const Tensor& x, int axis) {
  check_floating("log_softmax", x);
  const int a = detail::normalize_axis("log_softmax", axis, x.rank());
  const auto rule = [a](const Tensor& g, const Tensor& y) {
    return fast_or_composed(
        "log_softmax_gradient", {g, y}, [&] { return kernels::log_softmax_backward(g, y, a); },
        [&] { return log_softmax_gradient(g, y, a); });
  };
  return record("log_softmax", kernels::log_softmax(x, a), {x}, rule);
}

}  // namespace ladon
