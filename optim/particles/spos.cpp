#include "ladon/optim/particles/spos.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Spos::Spos(Particles particles, SposOptions options, Generator rng)
    : Svgd(std::move(particles), {.kernel = std::move(options.kernel),
                                  .alpha = options.alpha,
                                  .smoothing = options.smoothing,
                                  .target = options.target}),
      diffusion_(options.diffusion),
      rng_(rng) {
  LADON_CHECK(std::isfinite(diffusion_) && diffusion_ >= 0, "spos", "diffusion is ", diffusion_,
              "; it must be finite and at least 0");
}

ParticleMethod::Forces Spos::forces(const ParticleBlock& block, const Tensor& theta,
                                    const Tensor& gradient) const {
  Forces f = Svgd::forces(block, theta, gradient);
  if (diffusion_ > 0) kernels::axpby(1, f.driving, diffusion_, kernels::cast(gradient, f64));
  return f;
}

void Spos::diffuse(double step_size) {
  Svgd::diffuse(step_size);
  if (diffusion_ == 0) return;
  const double stddev = std::sqrt(2 * diffusion_ * step_size);
  for (const ParticleBlock& block : particles())
    block.add_to_values(normal({block.count(), block.dim()}, rng_, 0, stddev, block.dtype()));
}

}  // namespace ladon
