#include "ladon/optim/particles/spos.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

namespace ladon {

Spos::Spos(Particles particles, SposOptions options, Generator rng)
    : Svgd(std::move(particles), std::move(options.svgd)),
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
  const Forces svgd = Svgd::forces(block, theta, gradient);
  return {svgd.driving + diffusion_ * gradient, svgd.repulsive, svgd.h2};
}

ParticleMethod::Noise Spos::noise(const ParticleBlock& block) {
  if (diffusion_ == 0) return {};
  return {.unit = normal({block.count(), block.dim()}, rng_, 0, 1, block.dtype()),
          .diffusion = diffusion_,
          .step_scale = step_scale_};
}

}  // namespace ladon
