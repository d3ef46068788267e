#include "ladon/optim/particles/wgd.h"

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"
#include "ladon/optim/particles/fair_alpha.h"

namespace ladon {

Wgd::Wgd(Particles particles, WgdOptions options)
    : ParticleMethod(std::move(particles), options.target, options.max_ratio),
      options_(std::move(options)) {
  check_alpha("wgd", options_.alpha);
}

void Wgd::set_alpha(Alpha alpha) {
  check_alpha("wgd", alpha);
  options_.alpha = alpha;
}

ParticleMethod::Force Wgd::spread(const std::string& block, const KernelAt& kernel,
                                  const Tensor& theta) const {
  const Tensor density = kernel.density();  // [M, 1]
  const double least = number_of("wgd", amin(density));
  LADON_CHECK(least > 0, "wgd", "block \"", block, "\": the kernel ", options_.kernel.name,
              " sums to ", least, " at particle ", argmin(density, 0).item<std::int64_t>(),
              "; the sum Σ_j k_ij must be positive; use a kernel with positive values");
  if (kernel.w.defined()) return Force::spread(kernel.w / density, theta);
  const Tensor repulsion = kernel.repel();
  return repulsion / cast(density, repulsion.dtype());
}

ParticleMethod::Forces Wgd::forces(const std::string& block, const Tensor& theta,
                                   const Tensor& gradient) const {
  const KernelAt kernel = checked_at(options_.kernel, block, theta, options_.alpha);
  if (options_.alpha.off()) return {.driving = gradient, .alpha = 0, .h2 = kernel.h2};
  if (!kernel.k.defined()) warn_of_equal(name(), block, theta, gradient);
  const Force repulsion = spread(block, kernel, theta);
  const double alpha =
      options_.alpha.automatic() ? balance(theta, {}, repulsion) : options_.alpha.value();
  return {.driving = gradient, .repulsive = repulsion, .alpha = alpha, .h2 = kernel.h2};
}

double Wgd::fair_alpha(const std::string& block, const Tensor& theta) const {
  if (options_.alpha.off()) return fair(0);
  return fair(
      balance(theta, {}, spread(block, checked_at(options_.kernel, block, theta, 0), theta)));
}

}  // namespace ladon
