#include "ladon/optim/target.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

namespace ladon {

void check_target(const char* operation, const Target& target) {
  LADON_CHECK(std::isfinite(target.count) && target.count > 0, operation, "N is ", target.count,
              "; it must be positive and finite");
  LADON_CHECK(std::isfinite(target.prior_precision) && target.prior_precision >= 0, operation,
              "the prior's precision is ", target.prior_precision,
              "; it must be finite and at least 0");
  LADON_CHECK(std::isfinite(target.temperature) && target.temperature > 0, operation,
              "the temperature is ", target.temperature, "; it must be positive and finite");
}

Tensor target_gradient(const Target& target, const Tensor& theta, const Tensor& g) {
  const auto& [n, precision, temperature] = target;
  if (n == 1 && precision == 0 && temperature == 1) return g;  // keeps −0, and one pass
  return g * (n / temperature) + theta * (precision / temperature);
}

}  // namespace ladon
