#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/particles/study.h"
#include "ladon/optim/optim.h"
#include "ladon/optim/samplers/hmc.h"

namespace ladon::example {
namespace {

constexpr std::int64_t leapfrogs = 10;  ///< Average number of leapfrog steps per draw.
constexpr double far = 1e20;  ///< Squared norm of gradients from which a run counts as diverged.

/// Runs a training loop with the loss U = −ln p; all particles are one parameter. Returns the step
/// at which it diverged, or 0.
std::int64_t train(const std::string& method, const PlaneTarget& target, const Settings& s,
                   const Tensor& start, const Generator& rng, const Seen& seen) {
  Tensor x = parameter(clone(start));
  const std::unique_ptr<ParticleMethod> force = force_of(method, s, x, rng);
  std::unique_ptr<Optimizer> optimizer;
  if (method == "sgld")
    optimizer = std::make_unique<Sgld>(std::vector{x}, SgldOptions{.lr = s.rate}, rng);
  else
    optimizer = std::make_unique<Sgd>(std::vector{x}, SgdOptions{.lr = s.rate});
  for (std::int64_t step = 1; step <= s.steps; ++step) {
    optimizer->zero_grad();
    const Tensor gradient = -target.density.score(x).gradient;
    if (!(sum(square(gradient)).item() < far)) return step;
    x.set_grad(gradient);
    if (force) force->apply();
    optimizer->step();
    seen(step, x.detach());
  }
  return 0;
}

std::int64_t draw(const PlaneTarget& target, const Settings& s, const Tensor& start, Generator rng,
                  const Seen& seen) {
  const std::int64_t draws = std::max<std::int64_t>(1, s.steps / leapfrogs);
  const Chains chains = hmc(target.density, start,
                            {.draws = draws,
                             .warmup = 0,
                             .steps = leapfrogs,
                             .step = std::sqrt(2 * s.rate),
                             .progress = [](std::int64_t, std::int64_t) { stop_if_interrupted(); }},
                            rng);
  for (std::int64_t i = 0; i < draws; ++i) seen((i + 1) * leapfrogs, select(chains.draws, 1, i));
  return 0;
}

}  // namespace

std::unique_ptr<ParticleMethod> force_of(const std::string& method, const Settings& s,
                                         const Tensor& x, const Generator& rng,
                                         const SteinKernel& kernel) {
  const Alpha alpha = s.alpha == "auto" ? automatic : Alpha(std::stod(s.alpha));
  const SvgdOptions svgd{.kernel = kernel, .alpha = alpha};
  const Particles rows = particles_of_rows(x);
  if (method == "svgd") return std::make_unique<Svgd>(rows, svgd);
  if (method == "spos")
    return std::make_unique<Spos>(rows, SposOptions{.svgd = svgd, .diffusion = s.noise}, rng);
  if (method == "wgd")
    return std::make_unique<Wgd>(rows, WgdOptions{.kernel = kernel, .alpha = alpha});
  return nullptr;
}

std::int64_t move(const std::string& method, const PlaneTarget& target, const Settings& s,
                  const Tensor& start, Generator rng, const Seen& seen) {
  return method == "hmc" ? draw(target, s, start, rng, seen)
                         : train(method, target, s, start, rng, seen);
}

}  // namespace ladon::example
