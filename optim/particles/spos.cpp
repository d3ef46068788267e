#include "ladon/optim/particles/spos.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

namespace ladon {

Spos::Spos(Particles particles, SposOptions options, Generator rng)
    : Svgd(std::move(particles), std::move(options.svgd)),
      diffusion_(options.diffusion),
      rng_(rng) {
  LADON_CHECK(std::isfinite(diffusion_) && diffusion_ >= 0, "spos", "diffusion is ", diffusion_,
              "; it must be finite and at least 0");
}

ParticleMethod::Forces Spos::forces(const std::string& block, const Tensor& theta,
                                    const Tensor& gradient) const {
  Forces forces = Svgd::forces(block, theta, gradient);
  // The caller multiplies `driving` by `scale`; dividing by it here adds exactly b·∇U/T.
  const double own = diffusion_ / forces.scale;
  const Tensor& k = forces.driving.weights();
  forces.driving = k.defined() ? Force::mixed(k + own * eye(k.size(0), f64), gradient)
                               : Force(forces.driving + own * gradient);
  return forces;
}

ParticleMethod::Noise Spos::noise(const ParticleBlock& block) {
  if (diffusion_ == 0) return {};
  return {.unit = normal({block.count(), block.dim()}, rng_, 0, 1, block.dtype()),
          .diffusion = diffusion_};
}

}  // namespace ladon
