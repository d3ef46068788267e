#include "ladon/optim/particles/svgd.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/optim/particles/fair_alpha.h"

namespace ladon {

SvgdOptions SvgdOptions::paper(double alpha) {
  return {.kernel = rbf({.bandwidth = Bandwidth::paper}),
          .alpha = alpha,
          .max_ratio = std::numeric_limits<double>::infinity()};
}

Svgd::Svgd(Particles particles, SvgdOptions options)
    : ParticleMethod(std::move(particles), options.target, options.max_ratio),
      options_(std::move(options)) {
  check_alpha("svgd", options_.alpha);
}

void Svgd::set_alpha(Alpha alpha) {
  check_alpha("svgd", alpha);
  options_.alpha = alpha;
}

ParticleMethod::Forces Svgd::forces(const std::string& block, const Tensor& theta,
                                    const Tensor& gradient) const {
  const KernelAt kernel = checked_at(options_.kernel, block, theta, options_.alpha);
  if (!options_.alpha.off() && !kernel.k.defined()) warn_of_equal(name(), block, theta, gradient);
  const bool matrices = kernel.k.defined() && !options_.alpha.off() && !options_.alpha.automatic();
  const Force repulsion = options_.alpha.off() ? Force()
                          : matrices           ? Force::spread(kernel.w, theta)
                                               : Force(kernel.repel());
  // Without smoothing the driving force on each particle is the particle's own gradient.
  const Force driving = !options_.smoothing ? Force(gradient)
                        : matrices          ? Force::mixed(kernel.k, gradient)
                                            : Force(kernel.share(gradient));
  const double alpha = options_.alpha.automatic()
                           ? balance(theta, options_.smoothing ? kernel.share : nullptr, repulsion)
                           : options_.alpha.value();
  return {driving, repulsion, alpha, 1 / static_cast<double>(theta.size(0)), kernel.h2};
}

double Svgd::fair_alpha(const std::string& block, const Tensor& theta) const {
  if (options_.alpha.off()) return fair(0);
  const KernelAt kernel = checked_at(options_.kernel, block, theta, 0);
  return fair(balance(theta, options_.smoothing ? kernel.share : nullptr, kernel.repel()));
}

}  // namespace ladon
