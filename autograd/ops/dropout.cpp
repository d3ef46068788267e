#include "ladon/autograd/ops/dropout.h"

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"

namespace ladon {

Tensor dropout(const Tensor& x, double p, Generator& rng) {
  check_floating("dropout", x);
  LADON_CHECK(p >= 0 && p <= 1, "dropout", "the probability ", p, " is outside [0, 1]");
  if (p == 0) return x;
  detail::refuse_in_evaluation("dropout", true, false);
  const Tensor kept = masked_fill(x, bernoulli(x.shape(), rng, p), 0);
  return p < 1 ? kept / (1 - p) : kept;
}

}  // namespace ladon
