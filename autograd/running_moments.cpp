#include "ladon/autograd/running_moments.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {

void RunningMoments::add(const Tensor& x) {
  const NoGrad off;
  const Tensor value = cast(x, f64);
  if (++count_ == 1) {
    mean_ = clone(value);
    squares_ = zeros_like(mean_);
    return;
  }
  const Tensor step = value - mean_;
  add_(mean_, step, 1.0 / static_cast<double>(count_));
  mul_(step, value - mean_);
  add_(squares_, step);
}

Tensor RunningMoments::standard_error() const {
  LADON_CHECK(count_ >= 2, "standard_error", "needs two draws, got ", count_);
  const auto n = static_cast<double>(count_);
  return sqrt(squares_ / ((n - 1) * n));
}

}  // namespace ladon
