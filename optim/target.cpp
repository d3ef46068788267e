#include "ladon/optim/target.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

namespace ladon {

void detail::check_target(const char* operation, const TargetDensity& target) {
  LADON_CHECK(std::isfinite(target.count) && target.count > 0, operation,
              "the number of training items N is ", target.count,
              "; it must be positive and finite");
  LADON_CHECK(std::isfinite(target.prior_precision) && target.prior_precision >= 0, operation,
              "the prior's precision is ", target.prior_precision,
              "; it must be finite and at least 0");
  LADON_CHECK(std::isfinite(target.temperature) && target.temperature > 0, operation,
              "the temperature is ", target.temperature, "; it must be positive and finite");
}

Tensor mean_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g) {
  if (target.prior_precision == 0) return g;  // adding 0·theta would turn −0 into 0, and cost time
  return g + theta * (target.prior_precision / target.count);
}

Tensor target_gradient(const TargetDensity& target, const Tensor& theta, const Tensor& g) {
  const double weight = target.count / target.temperature;
  const Tensor mean = mean_gradient(target, theta, g);
  return weight == 1 ? mean : mean * weight;
}

}  // namespace ladon
