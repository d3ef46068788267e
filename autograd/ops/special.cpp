#include "ladon/autograd/ops/special.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/kernels/special.h"

namespace ladon {

Tensor lgamma(const Tensor& x) {
  return record("lgamma", in_common_dtype("lgamma", x, f32, kernels::lgamma), {x},
                [x = saved(x)](const Tensor& g) { return g * digamma(x); });  // (ln Γ)' = ψ
}

Tensor digamma(const Tensor& x) {
  const auto compute = [](const Tensor& a) { return kernels::polygamma(0, a); };
  return record("digamma", in_common_dtype("digamma", x, f32, compute), {x},
                [x = saved(x)](const Tensor& g) { return g * polygamma(1, x); });
}

Tensor polygamma(int n, const Tensor& x) {
  const auto compute = [n](const Tensor& a) { return kernels::polygamma(n, a); };
  return record("polygamma", in_common_dtype("polygamma", x, f32, compute), {x},
                [n, x = saved(x)](const Tensor& g) { return g * polygamma(n + 1, x); });
}

}  // namespace ladon
