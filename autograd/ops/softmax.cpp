#include "ladon/autograd/ops/softmax.h"

#include <cmath>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/kernels/reductions/softmax.h"

namespace ladon {

Tensor softmax(const Tensor& x, int axis) {
  check_floating("softmax", x);
  const int a = detail::normalize_axis("softmax", axis, x.rank());
  const auto rule = [a](const Tensor& g, const Tensor& y) {  // J = diag y − y·yᵀ
    return fast_or_composed(
        "softmax_gradient", {g, y}, [&] { return kernels::softmax_backward(g, y, a); },
        [&] { return y * (g - sum(g * y, a, keep_dims)); });  // Jᵀg = y ∘ (g − ⟨g, y⟩)
  };
  return record("softmax", kernels::softmax(x, a), {x}, symmetric(rule));
}

Tensor log_softmax(const Tensor& x, int axis) {
  check_floating("log_softmax", x);
  const int a = detail::normalize_axis("log_softmax", axis, x.rank());
  const auto rule = [a](const Tensor& g, const Tensor& y) {
    return fast_or_composed(
        "log_softmax_gradient", {g, y}, [&] { return kernels::log_softmax_backward(g, y, a); },
        [&] {
          const Tensor masked = equal(amax(y.detach(), a, keep_dims), -HUGE_VAL);
          const Tensor all_terms = g - exp(y) * sum(g, a, keep_dims);  // Jᵀg = g − softmax·Σg
          return masked_fill(all_terms, masked, 0);
        });
  };
  return record("log_softmax", kernels::log_softmax(x, a), {x}, rule);
}

}  // namespace ladon
