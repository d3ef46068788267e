#include "ladon/optim/particles/wgd.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"

namespace ladon {

Wgd::Wgd(Particles particles, WgdOptions options)
    : ParticleMethod(std::move(particles), options.target, options.max_ratio),
      options_(std::move(options)) {
  LADON_CHECK(std::isfinite(options_.alpha) && options_.alpha >= 0, "wgd", "alpha is ",
              options_.alpha, "; it must be finite and at least 0");
}

ParticleMethod::Forces Wgd::forces(const ParticleBlock& block, const Tensor& theta,
                                   const Tensor& gradient) const {
  const KernelAt kernel = checked_at(options_.kernel, block.name(), theta, options_.alpha);
  const Tensor density = kernel.density();  // [M, 1]
  const double least = amin(density).item();
  LADON_CHECK(least > 0, "wgd", "block \"", block.name(), "\": the kernel ", options_.kernel.name,
              " sums to ", least, " at particle ", argmin(density, 0).item<std::int64_t>(),
              "; it must be positive");
  return {gradient, kernel.repel() * (options_.alpha / density), kernel.h2};
}

}  // namespace ladon
