#include "ladon/optim/particles/svgd.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

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
  const double alpha = options_.alpha, m = static_cast<double>(theta.size(0));
  const KernelAt kernel = checked_at(options_.kernel, block.name(), theta, alpha);
  // without smoothing a particle's gradient meets no other's
  const Tensor driving = options_.smoothing ? kernel.share(gradient) : gradient;
  return {driving / m, kernel.repel() * (alpha / m), kernel.h2};
}

}  // namespace ladon
