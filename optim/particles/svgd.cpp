#include "ladon/optim/particles/svgd.h"

#include <cmath>
#include <limits>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {

SvgdOptions SvgdOptions::paper(double alpha) {
  return {.kernel = rbf({.bandwidth = Bandwidth::paper}),
          .alpha = alpha,
          .max_ratio = std::numeric_limits<double>::infinity()};
}

Svgd::Svgd(Particles particles, SvgdOptions options)
    : ParticleMethod(std::move(particles), options.target, options.max_ratio),
      options_(std::move(options)) {
  LADON_CHECK(std::isfinite(options_.alpha) && options_.alpha >= 0, "svgd", "alpha is ",
              options_.alpha, "; it must be finite and at least 0");
}

ParticleMethod::Forces Svgd::forces(const ParticleBlock& block, const Tensor& theta,
                                    const Tensor& gradient) const {
  using kernels::Binary;
  const double m = static_cast<double>(theta.size(0)), alpha = options_.alpha;
  const KernelValues kernel = checked_values(options_.kernel, block.name(), theta, alpha);
  // [M, M] · [M, D] → [M, D]; without smoothing a particle's gradient meets no other's
  const Tensor driving = options_.smoothing
                             ? rows::mix(kernels::binary(Binary::mul, kernel.k, 1 / m), gradient)
                             : kernels::binary(Binary::mul, kernels::cast(gradient, f64), 1 / m);
  return {driving, kernels::binary(Binary::mul, kernel.repulsion, alpha / m), kernel.h2};
}

}  // namespace ladon
