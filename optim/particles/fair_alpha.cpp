#include "ladon/optim/particles/fair_alpha.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon {

void check_alpha(const char* operation, Alpha alpha) {
  LADON_CHECK(alpha.automatic() || (std::isfinite(alpha.value()) && alpha.value() >= 0), operation,
              "alpha is ", alpha.value(), "; it must be finite and at least 0, or `automatic`");
}

double balance(const Tensor& theta, const std::function<Tensor(const Tensor&)>& share,
               const Tensor& repulsion) {
  const auto inner = [](const Tensor& a, const Tensor& b) {
    return number_of("alpha", sum(a * b));
  };
  const Tensor wide = cast(theta, f64), apart = wide - mean(wide, 0, Dims::keep);
  const double spread = inner(apart, apart), outward = inner(apart, cast(repulsion, f64));
  if (!(spread > 0) || !(outward > 0)) return 0;
  const double kept = share ? inner(apart, share(apart)) / spread : 1;
  return static_cast<double>(theta.count()) * kept / outward;
}

double fair(double balance) {
  return balance > 0 ? balance : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ladon
