#include "ladon/optim/particles/wgd.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Wgd::Wgd(Particles particles, WgdOptions options)
    : ParticleMethod(std::move(particles), options.target, options.max_ratio),
      options_(std::move(options)) {
  LADON_CHECK(std::isfinite(options_.alpha) && options_.alpha >= 0, "wgd", "alpha is ",
              options_.alpha, "; it must be finite and at least 0");
}

ParticleMethod::Forces Wgd::forces(const ParticleBlock& block, const Tensor& theta,
                                   const Tensor& gradient) const {
  const KernelValues kernel = checked_values(options_.kernel, block.name(), theta, options_.alpha);
  const std::int64_t m = theta.size(0);
  Tensor weight = empty({m, 1}, f64);
  double* w = weight.mutable_data<double>();
  const double* k = kernel.k.data<double>();
  for (std::int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < m; ++j) sum += k[i * m + j];
    LADON_CHECK(sum > 0, "wgd", "block \"", block.name(), "\": the kernel ", options_.kernel.name,
                " sums to ", sum, " at particle ", i, "; it must be positive");
    w[i] = options_.alpha / sum;
  }
  return {kernels::cast(gradient, f64),
          kernels::binary(kernels::Binary::mul, kernel.repulsion, weight), kernel.h2};
}

}  // namespace ladon
