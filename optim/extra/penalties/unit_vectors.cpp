#include "ladon/optim/extra/penalties/unit_vectors.h"

#include <limits>

#include "ladon/autograd/ops.h"

namespace ladon::detail {

Tensor unit_vectors(const Tensor& x) {
  const double smallest =
      x.dtype() == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const Tensor length = norm(x, -1, keep_dims), none = less(length, smallest);
  return masked_fill(x, none, 0) / masked_fill(length, none, 1);
}

}  // namespace ladon::detail
