#include "ladon/optim/particles/svgd.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {

SvgdOptions SvgdOptions::paper(double alpha) {
  return {.kernel = rbf({.bandwidth = Bandwidth::paper}), .alpha = alpha};
}

Svgd::Svgd(Particles particles, SvgdOptions options)
    : ParticleMethod(std::move(particles), options.target), options_(std::move(options)) {
  LADON_CHECK(std::isfinite(options_.alpha) && options_.alpha >= 0, "svgd", "alpha is ",
              options_.alpha, "; it must be finite and at least 0");
}

ParticleMethod::Forces Svgd::forces(const ParticleBlock&, const Tensor& theta,
                                    const Tensor& gradient) const {
  using kernels::Binary;
  const KernelValues kernel = options_.kernel.evaluate(theta);
  const std::int64_t m = theta.size(0);
  const Tensor& sharing = options_.smoothing ? kernel.k : eye(m, f64);
  const Tensor weights = kernels::binary(Binary::mul, sharing, 1 / static_cast<double>(m));
  // [M, M] · [M, D] → [M, D]
  return {rows::mix(weights, gradient),
          kernels::binary(Binary::mul, kernel.repulsion, options_.alpha / static_cast<double>(m)),
          kernel.h2};
}

}  // namespace ladon
