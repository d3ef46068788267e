#include "ladon/autograd/extra/special/special.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/kernels/special.h"

namespace ladon {

Tensor lgamma(const Tensor& x) {
  return record("lgamma", in_common_dtype("lgamma", x, f32, kernels::lgamma), {x},
                [x = saved(x)](const Tensor& g) { return g * digamma(x); });  // (ln Γ)' = ψ
}

namespace {

Tensor of_order(const char* name, int n, const Tensor& x) {
  const auto compute = [n](const Tensor& a) { return kernels::polygamma(n, a); };
  return record(name, in_common_dtype(name, x, f32, compute), {x},
                [n, x = saved(x)](const Tensor& g) { return g * polygamma(n + 1, x); });
}

}  // namespace

Tensor digamma(const Tensor& x) { return of_order("digamma", 0, x); }
Tensor polygamma(int n, const Tensor& x) { return of_order("polygamma", n, x); }

}  // namespace ladon
