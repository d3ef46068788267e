#include "ladon/optim/particles/svgd.h"

#include <cmath>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/core/error.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {

SvgdOptions SvgdOptions::paper(double alpha) {
  return {.kernel = rbf({.bandwidth = Bandwidth::paper}), .alpha = alpha};
}

Svgd::Svgd(Particles particles, SvgdOptions options)
    : ParticleMethod(std::move(particles), options.posterior), options_(std::move(options)) {
  check(std::isfinite(options_.alpha) && options_.alpha >= 0, "svgd", "alpha is ", options_.alpha,
        "; it must be finite and at least 0");
}

ParticleMethod::Forces Svgd::forces(const ParticleBlock&, const Tensor& theta,
                                    const Tensor& gradient) const {
  const KernelValues kernel = options_.kernel.evaluate(theta);
  const auto m = static_cast<double>(theta.size(0));
  // [M, M] · [M, D] → [M, D]
  const Tensor driving =
      rows::mix(options_.smoothing ? kernel.k : eye(theta.size(0), f64), gradient);
  scale_(driving, 1 / m);
  scale_(kernel.repulsion, options_.alpha / m);
  return {driving, kernel.repulsion, kernel.h2};
}

}  // namespace ladon
