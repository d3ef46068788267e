#include "ladon/autograd/running_moments.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {

void RunningMoments::add(const Tensor& x) {
  const NoGrad off;
  const Tensor value = cast(x, f64);
  if (++count_ == 1) {
    mean_ = clone(value);
    root_ = zeros_like(mean_);
    return;
  }
  const Tensor step = value - mean_;
  const auto n = static_cast<double>(count_);
  add_(mean_, step, 1 / n);
  root_ = norm(stack({root_, step * std::sqrt((n - 1) / n)}, 0), 0);
}

Tensor RunningMoments::standard_error() const {
  LADON_CHECK(count_ >= 2, "standard_error", "needs at least two samples, got ", count_);
  const auto n = static_cast<double>(count_);
  return root_ / std::sqrt((n - 1) * n);
}

}  // namespace ladon
