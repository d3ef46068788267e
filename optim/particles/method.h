#pragma once
// What all particle methods share. A method and an optimizer compose; neither knows the other:
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
// Calls in another order are Errors: what apply() did is marked on the gradients themselves.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/particles/particles.h"
#include "ladon/optim/target.h"

namespace ladon {

/// What apply() did to one block, and where its particles stand now.
struct BlockReport {
  std::string name;
  std::int64_t count, dim;  ///< M and D
  /// The kernel's squared bandwidth; NaN if it has none. 0: no scale, as there is one particle or all
  /// are equal; they do not repel each other then.
  double h2;
  double driving, repulsive;  ///< Root mean square over particles of the forces' norms.
  double ratio;               ///< repulsive/driving; NaN where both are 0.
  /// What the repulsion was multiplied by: below 1 where the ratio would have been above max_ratio.
  double damping;
  Spread distance, cosine;    ///< Between particles, as they stand now.
  std::vector<double> norms;  ///< ‖θ_i‖, as they stand now.
};

/// Rewrites gradients so that particles follow the forces of a method: one that sums up to a driving
/// and a repulsive one (a subclass says which), and may add noise.
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

  /// Rewrites the particles' gradients g = ∇loss to −φ, the method's direction of descent, in
  /// place. Call it once, after backward() and before clipping and step(); a parameter without
  /// gradient counts as having gradient 0. Rewritten gradients are marked until they are cleared:
  /// neither backward() nor a method, this or another, adds to them.
  ///
  /// Throws Error, and changes nothing, if
  /// - a block has no gradient at all, or one that a method rewrote already;
  /// - a parameter was replaced by Module::to;
  /// - values, gradients or forces are not finite, also once rounded to the particles' dtype;
  /// - the noise of the last apply() was not added.
  void apply();

  /// For those who move particles without an optimizer: adds the noise of the last apply(), once,
  /// as a step of size ε does. (Optimizer::step() does it with its own rate, outside any
  /// preconditioner.) diffuse(0) drops it, where a step was skipped. Throws Error unless ε is
  /// finite and ≥ 0, before the first apply(), and where the noise was added already. Nothing for a
  /// method without noise.
  void diffuse(double step_size);

  /// One entry a block. Throws Error before the first apply().
  std::vector<BlockReport> report() const;

  const Particles& particles() const& { return particles_; }
  Particles particles() && { return std::move(particles_); }

 protected:
  /// The two parts of −φ = driving − repulsive: f64 [M, D] each.
  struct Forces {
    Tensor driving;
    Tensor repulsive = {};                                 ///< Undefined: particles do not repel.
    double h2 = std::numeric_limits<double>::quiet_NaN();  ///< As BlockReport::h2.
  };
  /// What a step of rate r adds beside its update: sqrt(2·b·ε)·unit, ε = r·step_scale.
  struct Noise {
    Tensor unit = {};      ///< [M, D] ~ N(0, 1) in the block's dtype; undefined: no noise.
    double diffusion = 0;  ///< b
    double step_scale = 1;
  };

  /// Throws Error for a target that is none (N ≤ 0, λ < 0, T ≤ 0), and unless max_ratio ≥ 1
  /// (infinity: no bound).
  explicit ParticleMethod(Particles particles, const Target& target = {}, double max_ratio = 100);

  /// `gradient` is ∇U/T at `theta`; both f64 [M, D], finite, and to be read only. What is returned
  /// may be one of them.
  virtual Forces forces(const ParticleBlock& block, const Tensor& theta,
                        const Tensor& gradient) const = 0;
  /// Called by apply() once a block, in their order, after all checks of values and forces.
  virtual Noise noise(const ParticleBlock&) { return {}; }

 private:
  struct Last {
    double h2, driving, repulsive, damping;
  };
  struct PendingNoise;
  void check_ready() const;
  Tensor direction(const ParticleBlock& block, Last& last) const;
  Noise checked_noise(const ParticleBlock& block);
  void write(const ParticleBlock& block, const Tensor& gradient, const Noise& noise);

  Particles particles_;
  Target target_;
  double max_ratio_;
  std::vector<Last> last_;
  std::vector<std::shared_ptr<PendingNoise>> pending_;  // shared with the marks on the gradients
};

}  // namespace ladon
