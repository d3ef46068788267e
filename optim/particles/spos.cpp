#include "ladon/optim/particles/spos.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Spos::Spos(Particles particles, SposOptions options, Generator rng)
    : Svgd(std::move(particles), {.kernel = std::move(options.kernel),
                                  .alpha = options.alpha,
                                  .smoothing = options.smoothing,
                                  .target = options.target,
                                  .max_ratio = options.max_ratio}),
      diffusion_(options.diffusion),
      step_scale_(options.step_scale),
      rng_(rng) {
  LADON_CHECK(std::isfinite(diffusion_) && diffusion_ >= 0, "spos", "diffusion is ", diffusion_,
              "; it must be finite and at least 0");
  LADON_CHECK(std::isfinite(step_scale_) && step_scale_ > 0, "spos", "step_scale is ", step_scale_,
              "; it must be finite and positive");
}

ParticleMethod::Forces Spos::forces(const ParticleBlock& block, const Tensor& theta,
                                    const Tensor& gradient) const {
  Forces f = Svgd::forces(block, theta, gradient);  // its driving force is a tensor of its own
  if (diffusion_ > 0) kernels::axpby(1, f.driving, diffusion_, kernels::cast(gradient, f64));
  return f;
}

ParticleMethod::Noise Spos::noise(const ParticleBlock& block) {
  if (diffusion_ == 0) return {};
  return {.unit = normal({block.count(), block.dim()}, rng_, 0, 1, block.dtype()),
          .diffusion = diffusion_,
          .step_scale = step_scale_};
}

}  // namespace ladon
