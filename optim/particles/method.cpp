#include "ladon/optim/particles/method.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

/// Norms of rows are below it: their squares, and the squares' sum, are finite then.
constexpr double largest = 1e150;

/// Root mean square of the norms of x's rows. Throws Error naming the first that is not finite.
double checked_size(const ParticleBlock& block, const char* what, const Tensor& x) {
  const std::vector<double> norms = rows::norms(x);
  double sum = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    LADON_CHECK(norms[i] < largest, "apply", "block \"", block.name(), "\", particle ", i, ": its ",
                what, " has norm ", norms[i], "; it must be below ", largest,
                ", and nothing was changed");
    sum += norms[i] * norms[i];
  }
  return std::sqrt(sum / double(norms.size()));
}

/// The same of what forces() returned.
double checked_force(const ParticleBlock& block, const std::string& method, const char* what,
                     const Tensor& x) {
  const Shape expected{block.count(), block.dim()};
  LADON_CHECK(x.defined(), "apply", method, " gives no ", what, " for block \"", block.name(),
              "\"; it must be f64 ", expected);
  LADON_CHECK(x.dtype() == f64 && x.shape() == expected, "apply", "the ", what, " that ", method,
              " gives for block \"", block.name(), "\" is ", x.dtype(), " ", x.shape(),
              "; it must be f64 ", expected);
  return checked_size(block, what, x);
}

}  // namespace

/// A parameter's share of a block's noise, until it is added.
struct ParticleMethod::PendingNoise {
  std::string block;
  Tensor parameter;  // without history, or a leaf would own itself
  Tensor unit;       // of its shape; undefined once it was added
  double diffusion;

  bool waits() const { return unit.defined(); }
  /// θ ← θ + sqrt(2bε)·ξ, the product rounded to the dtype first.
  void add(double epsilon) {
    if (!waits()) return;
    const Tensor xi = std::exchange(unit, Tensor());
    const double stddev = std::sqrt(2 * diffusion * epsilon);
    add_(parameter, xi * stddev);
  }
};

ParticleMethod::ParticleMethod(Particles particles, const Target& target, double max_ratio)
    : particles_(std::move(particles)), target_(target), max_ratio_(max_ratio) {
  check_target("particles", target);
  LADON_CHECK(max_ratio >= 1, "particles", "max_ratio is ", max_ratio,
              "; it must be at least 1, the ratio of the forces where particles rest");
}

void ParticleMethod::check_ready() const {
  for (const ParticleBlock& block : particles_) {
    bool any = false;
    for (const Tensor& x : block.parameters()) {
      const Leaf& leaf = *Leaf::of(x);
      leaf.check_in_place("apply");
      const std::string by = leaf.rewritten_by();
      LADON_CHECK(by.empty(), "apply", "block \"", block.name(), "\" still has the gradients that ",
                  by, " wrote; call zero_grad() and backward() between two calls");
      any = any || x.grad().defined();
    }
    LADON_CHECK(any, "apply", "no parameter of block \"", block.name(),
                "\" has a gradient; call backward() after zero_grad() and before apply()");
  }
  for (const auto& noise : pending_)
    LADON_CHECK(!noise->waits(), "apply", "the noise of the last apply() was not added to block \"",
                noise->block,
                "\"; call step() of an optimizer that holds the particles (or, without one, "
                "diffuse(ε); diffuse(0) where a step was skipped)");
}

/// −φ of one block, in its dtype.
Tensor ParticleMethod::direction(const ParticleBlock& block, Last& last) const {
  const Tensor theta = cast(block.values(), f64), g = cast(block.gradients(), f64);
  checked_size(block, "value", theta);
  checked_size(block, "gradient", g);
  const Tensor score = target_gradient(target_, theta, g);
  if (!(score.storage() == g.storage())) checked_size(block, "gradient of U/T", score);

  const Forces f = forces(block, theta, score);
  Tensor repulsive = f.repulsive;
  const bool repels = repulsive.defined();
  last = {.h2 = f.h2,
          .driving = checked_force(block, name(), "driving force", f.driving),
          .repulsive = repels ? checked_force(block, name(), "repulsive force", repulsive) : 0,
          .damping = 1};
  const double most = max_ratio_ * last.driving;
  if (last.driving > 0 && last.repulsive > most) {
    last.damping = most / last.repulsive;
    last.repulsive = most;
    repulsive = last.damping * repulsive;
  }
  const Tensor force = repels ? f.driving - repulsive : f.driving;
  const Tensor rounded = cast(force, block.dtype());
  checked_size(block, "force", rounded);
  return rounded;
}

ParticleMethod::Noise ParticleMethod::checked_noise(const ParticleBlock& block) {
  Noise drawn = noise(block);
  const Shape expected{block.count(), block.dim()};
  LADON_CHECK(!drawn.unit.defined() ||
                  (drawn.unit.dtype() == block.dtype() && drawn.unit.shape() == expected),
              "apply", "the noise that ", name(), " gives for block \"", block.name(), "\" is ",
              drawn.unit.dtype(), " ", drawn.unit.shape(), "; it must be ", block.dtype(), " ",
              expected);
  return drawn;
}

/// Puts the gradient of a block in its place, marked, with the noise that goes with it.
void ParticleMethod::write(const ParticleBlock& block, const Tensor& gradient, const Noise& noise) {
  block.set_gradients(gradient);
  const std::vector<Tensor>& parameters = block.parameters();
  std::vector<Tensor> units(parameters.size());
  if (noise.unit.defined()) units = block.pieces(noise.unit);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Rewrite rewrite{.by = name()};
    if (units[i].defined()) {
      pending_.push_back(std::make_shared<PendingNoise>(
          PendingNoise{block.name(), parameters[i].detach(), units[i], noise.diffusion}));
      rewrite.at_step = [pending = pending_.back(), scale = noise.step_scale](double rate) {
        pending->add(rate * scale);
      };
    }
    Leaf::of(parameters[i])->set_rewrite(std::move(rewrite));
  }
}

void ParticleMethod::apply() {
  NoGrad no_grad;
  check_ready();
  std::vector<Last> last(particles_.size());
  std::vector<Tensor> gradients;
  for (const ParticleBlock& block : particles_)
    gradients.push_back(direction(block, last[gradients.size()]));
  std::vector<Noise> noises;
  for (const ParticleBlock& block : particles_) noises.push_back(checked_noise(block));
  pending_.clear();
  for (std::size_t b = 0; b < particles_.size(); ++b) write(particles_[b], gradients[b], noises[b]);
  last_ = std::move(last);
}

void ParticleMethod::diffuse(double step_size) {
  LADON_CHECK(std::isfinite(step_size) && step_size >= 0, "diffuse", "the step size is ", step_size,
              "; it must be finite and at least 0");
  LADON_CHECK(!last_.empty(), "diffuse", "call apply() first: it draws the noise");
  if (pending_.empty()) return;
  LADON_CHECK(
      std::any_of(pending_.begin(), pending_.end(), [](const auto& p) { return p->waits(); }),
      "diffuse",
      "the noise of the last apply() was already added, by step() of an optimizer or by "
      "diffuse()");
  for (const auto& noise : pending_) noise->add(step_size);
}

std::vector<BlockReport> ParticleMethod::report() const {
  LADON_CHECK(!last_.empty(), "report", "there is nothing to report before the first apply()");
  std::vector<BlockReport> reports;
  for (std::size_t b = 0; b < particles_.size(); ++b) {
    const ParticleBlock& block = particles_[b];
    const Tensor theta = block.values();
    const auto& [h2, driving, repulsive, damping] = last_[b];
    reports.push_back({block.name(), block.count(), block.dim(), h2, driving, repulsive,
                       repulsive / driving, damping, pairwise_distance(theta),
                       pairwise_cosine(theta), rows::norms(theta)});
  }
  return reports;
}

}  // namespace ladon
