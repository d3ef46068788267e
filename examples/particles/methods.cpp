#include "ladon/examples/particles/methods.h"

#include <cmath>
#include <memory>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/optim/optim.h"
#include "ladon/optim/samplers/hmc.h"

namespace ladon::example {
namespace {

constexpr std::int64_t leapfrogs = 10;  ///< Of a draw, on average.
constexpr double far = 1e20;  ///< Gradients' squares are below it where anything is left to see.

std::unique_ptr<ParticleMethod> forces_of(const std::string& method, const Settings& s,
                                          const Tensor& x, const Generator& rng) {
  const SvgdOptions svgd{.alpha = alpha_of(s)};
  if (method == "svgd") return std::make_unique<Svgd>(particles_of_rows(x), svgd);
  if (method == "spos")
    return std::make_unique<Spos>(particles_of_rows(x),
                                  SposOptions{.svgd = svgd, .diffusion = s.noise}, rng);
  if (method == "wgd")
    return std::make_unique<Wgd>(particles_of_rows(x), WgdOptions{.alpha = alpha_of(s)});
  return nullptr;
}

/// A training loop whose loss is U = −ln p, with all particles in one parameter.
std::int64_t train(const std::string& method, const PlaneTarget& target, const Settings& s,
                   const Tensor& start, const Generator& rng, const Seen& seen) {
  Tensor x = parameter(clone(start));
  const std::unique_ptr<ParticleMethod> forces = forces_of(method, s, x, rng);
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
    if (forces) forces->apply();
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

Alpha alpha_of(const Settings& s) {
  return s.alpha == "auto" ? automatic : Alpha(std::stod(s.alpha));
}

std::int64_t move(const std::string& method, const PlaneTarget& target, const Settings& s,
                  const Tensor& start, Generator rng, const Seen& seen) {
  return method == "hmc" ? draw(target, s, start, rng, seen)
                         : train(method, target, s, start, rng, seen);
}

}  // namespace ladon::example
