// φ is the update direction (method.h). The target density is ∝ exp(−U/T), with temperature T, N
// items and prior precision λ (target.h). A step of learning rate r has ε = r·T/N, and ξ is its
// unit noise.

#include "ladon/optim/particles/method.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/particles.h"
#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

/// Upper bound on the norms of rows: below it, the squared norms and their sum are finite.
constexpr double largest = 1e150;

/// Root mean square of the row norms of factor·x, given the squared norms of x's rows. Throws Error
/// naming the first row whose norm is not below `largest`.
double checked_size(const std::string& block, const char* what, const std::vector<double>& squares,
                    double factor = 1) {
  double sum = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    const double square = factor * factor * squares[i], norm = std::sqrt(square);
    LADON_CHECK(norm < largest, "apply", "block \"", block, "\", particle ", i, ": its ", what,
                " has norm ", norm, "; it must be below ", largest,
                ", and no gradient was changed");
    sum += square;
  }
  return std::sqrt(sum / double(squares.size()));
}

/// Throws Error, as checked_size() does, if the norm of a row of x is not finite or not below
/// `largest`.
void check_finite(const std::string& block, const char* what, const Tensor& x) {
  if (x.dtype() == f32 && kernels::all_finite(x)) return;  // finite f32 rows have smaller norms
  checked_size(block, what, kernels::squared_norms(x));
}

/// A force returned by forces(), checked against the particles' shape and cast to their dtype.
Tensor checked_force(const std::string& block, const std::string& method, const char* what,
                     const Tensor& theta, const Tensor& x) {
  const std::string expected =
      detail::join(theta.dtype() == f64 ? "f64 " : "f32 or f64 ", theta.shape());
  LADON_CHECK(x.defined(), "apply", method, " returns no ", what, " for block \"", block,
              "\"; it must be ", expected);
  LADON_CHECK((x.dtype() == f64 || x.dtype() == theta.dtype()) && x.shape() == theta.shape(),
              "apply", "the ", what, " that ", method, " returns for block \"", block, "\" is ",
              x.dtype(), " ", x.shape(), "; it must be ", expected);
  return cast(x.detach(), theta.dtype());
}

/// Whether the squared norms of rows are far enough inside the range of `dtype` that sums of
/// squares in it are accurate.
bool squares_fit(const std::array<std::vector<double>, 3>& norms, DType dtype) {
  const auto [least, most] = dtype == f64 ? std::pair(1e-250, 1e290) : std::pair(1e-30, 1e35);
  for (const std::vector<double>& squares : norms)
    for (const double square : squares)
      if (!(least < square && square < most)) return false;
  return true;
}

}  // namespace

ParticleMethod::Force::operator Tensor() const {
  if (!weights_.defined()) return rows_;
  return differences_ ? rows::mix_differences(weights_, rows_) : rows::mix(weights_, rows_);
}

/// Noise drawn by apply() that is still to be added to one parameter of a block.
struct ParticleMethod::PendingNoise {
  std::string block;
  Tensor parameter;  // detached: its leaf's Rewrite owns this object, which must not own the leaf
  Tensor unit;       // [parameter's shape]; undefined once added
  double diffusion;

  bool waits() const { return unit.defined(); }
  /// Adds the noise of a step, with diffusion b and unit noise ξ: θ ← θ + sqrt(2bε)·ξ. The product
  /// is rounded to the dtype before it is added.
  void add(double epsilon) {
    if (!waits()) return;
    const Tensor xi = std::exchange(unit, Tensor());
    const double stddev = std::sqrt(2 * diffusion * epsilon);
    add_(parameter, xi * stddev);
  }
};

ParticleMethod::ParticleMethod(Particles particles, const TargetDensity& target, double max_ratio)
    : particles_(std::move(particles)), target_(target), max_ratio_(max_ratio) {
  detail::check_target("particles", target);
  LADON_CHECK(max_ratio >= 1, "particles", "max_ratio is ", max_ratio,
              "; it must be at least 1, which is the ratio of the forces at a fixed point");
}

void ParticleMethod::set_target(const TargetDensity& target) {
  detail::check_target("particles", target);
  target_ = target;
}

double ParticleMethod::fair_alpha(const std::string&, const Tensor&) const {
  return std::numeric_limits<double>::quiet_NaN();
}

void ParticleMethod::check_ready() const {
  LADON_CHECK(particles_.size() > 0, "apply",
              "the method has no particles; pass particles to its constructor, or use act_on() "
              "instead of apply()");
  for (const ParticleBlock& block : particles_) {
    bool any = false;
    block.check_in_place("apply");
    for (const Tensor& x : block.parameters()) {
      const Leaf& leaf = *Leaf::of(x);
      LADON_CHECK(!leaf.frozen(), "apply", "a parameter of block \"", block.name(),
                  "\" is frozen, but a force would move it; thaw it, or leave its block out");
      const std::string by = leaf.rewrite().by;
      LADON_CHECK(by.empty(), "apply", "block \"", block.name(), "\" still has the gradients that ",
                  by, " wrote; call zero_grad() and backward() before the next apply()");
      LADON_CHECK(!leaf.used(), "apply", "a step() has used the gradients of block \"",
                  block.name(),
                  "\" already; call zero_grad() and backward(), then apply(), then step()");
      any = any || x.grad().defined();
    }
    LADON_CHECK(any, "apply", "no parameter of block \"", block.name(),
                "\" has a gradient; call backward() after zero_grad() and before apply()");
  }
  for (const auto& noise : pending_)
    LADON_CHECK(!noise->waits(), "apply", "the noise of the last apply() was not added to block \"",
                noise->block,
                "\"; call step() of an optimizer of the particles (or, without one, "
                "diffuse(rate); diffuse(0) if a step was skipped)");
}

/// a·driving + b·repulsive, and the squared norms of the rows of both forces and of the sum.
struct ParticleMethod::Sums : kernels::RowSums {};

/// The Sums of two forces, formed in one pass over memory; nullopt if the forces are not sums over
/// particles, or if their squared norms leave the range of their dtype.
std::optional<ParticleMethod::Sums> ParticleMethod::formed_at_once(const Forces& f, double a,
                                                                   double b) {
  const Force &driving = f.driving, &repulsive = f.repulsive;
  if (!driving.defined() || driving.spreads() || !repulsive.spreads()) return {};
  const Tensor &g = driving.rows(), &theta = repulsive.rows(), &k = driving.weights();
  const DType dtype = theta.dtype();
  if (g.dtype() != dtype || g.shape() != theta.shape()) return {};
  const Shape pairs{theta.size(0), theta.size(0)};
  if (repulsive.weights().shape() != pairs || (k.defined() && k.shape() != pairs)) return {};
  Sums sums{kernels::forces(a, k.defined() ? cast(k, dtype) : k, g, b,
                            cast(repulsive.weights(), dtype), theta)};
  if (!squares_fit(sums.squared_norms, dtype)) return {};
  return sums;
}

/// The Sums of a block's forces at particles [M, D], formed in one pass if possible.
ParticleMethod::Sums ParticleMethod::formed(const std::string& block, const Tensor& theta,
                                            const Forces& f, double a, double b) const {
  // A repulsive force whose rows differ from theta in shape or dtype is formed separately: the
  // checks below then throw an Error that says what is wrong.
  if (f.repulsive.defined() && f.repulsive.rows().shape() == theta.shape() &&
      f.repulsive.rows().dtype() == theta.dtype())
    if (auto sums = formed_at_once(f, a, b)) return std::move(*sums);
  const Tensor driving = checked_force(block, name(), "driving force", theta, f.driving);
  const Tensor repulsive = f.repulsive.defined()
                               ? checked_force(block, name(), "repulsive force", theta, f.repulsive)
                               : driving;
  return {kernels::weighted_sum(a, driving, b, repulsive)};
}

/// The rewritten gradient −φ·T/N [M, D] in the particles' dtype, from the particles' values and
/// their loss gradients, both [M, D]. `last` receives the diagnostics.
Tensor ParticleMethod::direction(const std::string& block, const Tensor& values,
                                 const Tensor& gradients, Last& last) const {
  // `values` are checked after the gradients, so that target_gradient() and forces() find them in
  // the CPU caches
  check_finite(block, "gradient", gradients);
  check_finite(block, "value", values);
  const Tensor negative_score = target_gradient(target_, values, gradients);  // ∇U/T
  if (!(negative_score.storage() == gradients.storage()))
    check_finite(block, "gradient of U/T", negative_score);

  const Forces f = forces(block, values, negative_score);
  const double unit = target_.temperature / target_.count,
               weight = f.repulsive.defined() ? f.scale * f.alpha.value_or(1) : 0;
  Sums sums = formed(block, values, f, unit * f.scale, -unit * weight);
  try {
    last = {.h2 = f.h2,
            .driving = checked_size(block, "driving force", sums.squared_norms[0], f.scale),
            .repulsive = checked_size(block, "repulsive force", sums.squared_norms[1], weight),
            .damping = 1,
            .alpha = f.alpha.value_or(std::numeric_limits<double>::quiet_NaN())};
  } catch (const Error&) {
    const LookThrough naming;
    forces(block, values, negative_score);
    throw;
  }
  const double most = max_ratio_ * last.driving;
  if (last.driving > 0 && last.repulsive > most) {
    last.damping = most / last.repulsive;
    last.repulsive = most;
    sums = formed(block, values, f, unit * f.scale, -unit * weight * last.damping);
  }
  checked_size(block, "force", sums.squared_norms[2]);
  last.driving *= unit;
  last.repulsive *= unit;
  return sums.y;
}

ParticleMethod::Noise ParticleMethod::checked_noise(const ParticleBlock& block) {
  Noise drawn = noise(block);
  const Shape expected{block.count(), block.dim()};
  LADON_CHECK(!drawn.unit.defined() ||
                  (drawn.unit.dtype() == block.dtype() && drawn.unit.shape() == expected),
              "apply", "the noise that ", name(), " returns for block \"", block.name(), "\" is ",
              drawn.unit.dtype(), " ", drawn.unit.shape(), "; it must be ", block.dtype(), " ",
              expected);
  LADON_CHECK(!drawn.unit.defined() || kernels::all_finite(drawn.unit), "apply", "the noise that ",
              name(), " returns for block \"", block.name(),
              "\" holds NaN or ∞; all its numbers must be finite, and no gradient was changed");
  LADON_CHECK(std::isfinite(drawn.diffusion) && drawn.diffusion >= 0, "apply", "the noise that ",
              name(), " returns for block \"", block.name(), "\" has diffusion ", drawn.diffusion,
              "; it must be finite and at least 0");
  return drawn;
}

/// Stores the rewritten gradient of a block and marks it as rewritten; the mark's at_step adds the
/// noise.
void ParticleMethod::write(const ParticleBlock& block, Tensor gradient, const Noise& noise) {
  block.set_gradients(std::move(gradient));
  const std::vector<Tensor>& parameters = block.parameters();
  std::vector<Tensor> units(parameters.size());
  const double unit = target_.temperature / target_.count;  // T/N: a step of rate r has ε = r·T/N
  if (noise.unit.defined()) units = block.pieces(noise.unit);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Rewrite rewrite{.by = name(), .prior = target_.prior_precision > 0};
    if (units[i].defined()) {
      pending_.push_back(std::make_shared<PendingNoise>(
          PendingNoise{block.name(), parameters[i].detach(), units[i], noise.diffusion}));
      rewrite.at_step = [pending = pending_.back(), unit](double rate) {
        pending->add(rate * unit);
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
    gradients.push_back(
        direction(block.name(), block.values(), block.gradients(), last[gradients.size()]));
  std::vector<Noise> noises;
  for (const ParticleBlock& block : particles_) noises.push_back(checked_noise(block));
  pending_.clear();
  for (std::size_t b = 0; b < particles_.size(); ++b)
    write(particles_[b], std::move(gradients[b]), noises[b]);
  last_ = std::move(last);
}

void ParticleMethod::diffuse(double rate) {
  LADON_CHECK(std::isfinite(rate) && rate >= 0, "diffuse", "the rate is ", rate,
              "; it must be finite and at least 0");
  LADON_CHECK(!last_.empty(), "diffuse",
              "there is no noise to add yet; call apply() first, which draws the noise");
  if (pending_.empty()) return;
  LADON_CHECK(
      std::any_of(pending_.begin(), pending_.end(), [](const auto& p) { return p->waits(); }),
      "diffuse",
      "the noise of the last apply() was already added, by step() of an optimizer or by diffuse(); "
      "add it only once");
  for (const auto& noise : pending_) noise->add(rate * target_.temperature / target_.count);
}

BlockReport ParticleMethod::report_of(const std::string& name, const Tensor& theta,
                                      const Last& last) const {
  const auto& [h2, driving, repulsive, damping, alpha] = last;
  return {name,
          theta.size(0),
          theta.size(1),
          h2,
          driving,
          repulsive,
          repulsive / driving,
          damping,
          alpha,
          fair_alpha(name, cast(theta, f64)),
          pairwise_distance(theta),
          pairwise_cosine(theta),
          rows::norms(theta)};
}

std::vector<BlockReport> ParticleMethod::report() const {
  LADON_CHECK(!last_.empty() || !acted_.empty(), "report",
              "there is nothing to report before the first apply() or the first backward() through "
              "an x of act_on()");
  const NoGrad off;
  std::vector<BlockReport> reports;
  for (std::size_t b = 0; b < last_.size(); ++b)
    reports.push_back(report_of(particles_[b].name(), particles_[b].values(), last_[b]));
  for (const Acted& acted : acted_)
    reports.push_back(report_of(acted.name, acted.theta, acted.last));
  return reports;
}

}  // namespace ladon
