#pragma once
// Base of all particle methods. A method and an optimizer compose; neither knows the other:
//
//   Svgd repulsion(particles(model), {.alpha = 0.1});
//   Adam adam(model.parameters());
//   for (…) {
//     adam.zero_grad();
//     backward(loss);
//     repulsion.apply();  // rewrites the particles' gradients
//     adam.step();        // and adds the noise of a method that has it
//   }
//
// Or a method acts where a gradient passes, on what heads or models compute (function space):
//
//   repulsion.act_on(contexts, 1);   // [B, H, T, d]: heads are axis 1
//   backward(loss);                  // rewrites dL/dcontexts, and pulls it back to the weights
//   adam.step();
//
// Calls in another order are Errors: what apply() did is marked on the gradients themselves.

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ladon/autograd/hook.h"
#include "ladon/optim/particles/alpha.h"
#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/particles/particles.h"
#include "ladon/optim/target.h"

namespace ladon {

/// Report on one block: what apply() did to it, and the distances of its particles now.
struct BlockReport {
  std::string name;
  std::int64_t count, dim;  ///< M and D
  /// The kernel's squared bandwidth; NaN if it has none. 0: no scale, as there is one particle or
  /// all are equal; they do not repel each other then.
  double h2;
  double driving, repulsive;  ///< Root mean square over particles of the forces' norms, as written.
  double ratio;               ///< repulsive/driving; NaN where both are 0.
  /// Factor of the repulsion: below 1 where the ratio would have been above max_ratio.
  double damping;
  double alpha;  ///< The weight of the repulsion, before damping; NaN for a method without.
  /// The α that gives particles, where they stand now, the target's energy (alpha.h); NaN where α
  /// is 0, for a method without, for one particle, and where they do not repel. α/α* is the
  /// temperature that they show.
  double fair_alpha;
  PairSpread distance, cosine;  ///< Between particles, as they stand now.
  std::vector<double> norms;    ///< ‖θ_i‖, as they stand now.
};

/// Rewrites gradients so that particles follow the forces of a method: one that sums up to a
/// driving and a repulsive one (a subclass says which), and may add noise.
///
/// The repulsion is bounded. A kernel whose bandwidth follows the distances repels two nearly equal
/// particles by a force that grows as 1/distance; a step whose rate was chosen for the loss would
/// throw them out of all proportion. So where the ratio of the two forces (root mean squares over
/// the block) is above max_ratio, α is lowered, for this step and block, until it is max_ratio.
/// One factor for all keeps the forces' directions and Σ R_i; it does not depend on the particles'
/// order, place or scale; and it moves no point of rest, for there the two forces are equal. Where
/// there is no driving force at all, there is nothing to compare with, and no bound.
class ParticleMethod {
 public:
  virtual ~ParticleMethod() = default;
  ParticleMethod(const ParticleMethod&) = delete;
  ParticleMethod& operator=(const ParticleMethod&) = delete;

  /// "svgd", as in errors.
  virtual std::string name() const = 0;

  /// Rewrites the particles' gradients g = ∇loss to −φ·T/N, the method's direction of descent, in
  /// place: in units of the mean loss, so that particles and the rest of a model agree about
  /// clipping, decay and rates. Call it once, after backward() and before clipping and step(); a
  /// parameter without gradient counts as having gradient 0. Rewritten gradients are marked until
  /// they are cleared: neither backward() nor a method, this or another, adds to them.
  ///
  /// Throws Error, and changes nothing, if
  /// - there are no particles; a block has no gradient at all, or one that a method rewrote already
  ///   or a step() used: forces written after the step are cleared before the next;
  /// - a parameter was replaced by Module::to;
  /// - values, gradients or forces are not finite, also once rounded to the particles' dtype;
  /// - the noise of the last apply() was not added.
  void apply();

  /// Rewrites the gradient of an intermediate result x likewise, when a sweep of backward() reaches
  /// it: the entries of `axis` are the particles, each with all else of x as its numbers.
  /// backward() pulls the rewritten gradient back to the parameters: what is before x sees forces
  /// between functions. N and T as in apply(); give the model no prior by λ here unless x itself
  /// has it. In report() it is a block of that name, of the last sweep that reached one of it.
  /// Throws Error for an axis that x lacks, an x without history, and for a method with noise
  /// (which has its place on parameters); backward() throws where values, gradients or forces are
  /// not finite, and where the method is no more and the hook was not removed.
  HookHandle act_on(const Tensor& x, int axis, std::string name = "activation");

  /// For those who move particles without an optimizer: adds the noise of the last apply(), once,
  /// as a step of that rate does. (Optimizer::step() does it with its own rate, outside any
  /// preconditioner.) diffuse(0) drops it, where a step was skipped. Throws Error unless the rate
  /// is finite and ≥ 0, before the first apply(), and where the noise was added already. Nothing
  /// for a method without noise.
  void diffuse(double rate);

  /// One entry per block, and one per name of act_on(). Throws Error before the first apply() and
  /// before any sweep has reached an x of act_on().
  std::vector<BlockReport> report() const;

  const Particles& particles() const& { return particles_; }
  Particles particles() && { return std::move(particles_); }

  const TargetDensity& target() const& { return target_; }
  TargetDensity target() && { return target_; }
  /// From the next step on: annealing. Throws Error for a target that is none.
  void set_target(const TargetDensity& target);

 protected:
  /// −φ = scale·(driving − alpha·repulsive), in units of ∇U/T: `driving` is a gradient, which
  /// points uphill, `repulsive` a force. Both are [M, D], in the particles' dtype or in f64.
  struct Forces {
    Tensor driving;
    Tensor repulsive = {};  ///< Undefined: particles do not repel.
    std::optional<double> alpha =
        {};  ///< As BlockReport::alpha; without, repulsive counts as it is.
    double scale = 1;
    double h2 = std::numeric_limits<double>::quiet_NaN();  ///< As BlockReport::h2.
  };
  /// Noise that a step of rate r adds to its update: sqrt(2·b·ε)·unit, ε = r·T/N.
  struct Noise {
    Tensor unit = {};      ///< [M, D] ~ N(0, 1) in the block's dtype; undefined: no noise.
    double diffusion = 0;  ///< b
  };

  /// Throws Error for a target that is none (N ≤ 0, λ < 0, T ≤ 0), and unless max_ratio ≥ 1
  /// (infinity: no bound).
  explicit ParticleMethod(Particles particles, const TargetDensity& target = {},
                          double max_ratio = 100);

  /// `gradient` is ∇U/T at `theta`; both [M, D] in the particles' dtype, finite, and to be read
  /// only. The result may be one of them. `block` is a name for errors.
  virtual Forces forces(const std::string& block, const Tensor& theta,
                        const Tensor& gradient) const = 0;
  /// The α that BlockReport::fair_alpha reports, at `theta`.
  virtual double fair_alpha(const std::string& block, const Tensor& theta) const;
  /// Called by apply() once per block, in their order, after all checks of values and forces.
  virtual Noise noise(const ParticleBlock&) { return {}; }
  /// Whether noise() may give some.
  virtual bool has_noise() const { return false; }

 private:
  struct Last {
    double h2, driving, repulsive, damping, alpha;
  };
  /// Last call of act_on() under a name.
  struct Acted {
    std::string name;
    Tensor theta;
    Last last;
  };
  struct PendingNoise;
  void check_ready() const;
  Tensor direction(const std::string& block, const Tensor& values, const Tensor& gradients,
                   Last& last) const;
  Tensor rewrite(const std::string& name, const Tensor& x, const Tensor& gradient, int axis);
  BlockReport report_of(const std::string& name, const Tensor& theta, const Last& last) const;
  Noise checked_noise(const ParticleBlock& block);
  void write(const ParticleBlock& block, Tensor gradient, const Noise& noise);

  Particles particles_;
  TargetDensity target_;
  double max_ratio_;
  std::vector<Last> last_;
  std::vector<Acted> acted_;
  std::vector<std::shared_ptr<PendingNoise>> pending_;  // shared with the marks on the gradients
  // Held weakly by hooks: it ends with the method.
  const std::shared_ptr<ParticleMethod> self_{this, [](ParticleMethod*) {}};
};

}  // namespace ladon
