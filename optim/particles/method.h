#pragma once
// Base class of all particle methods. Any method can be combined with any optimizer:
//
//   Svgd repulsion(particles(model), {.alpha = 0.1});
//   Adam adam(model.parameters());
//   for (…) {
//     adam.zero_grad();
//     backward(loss);
//     repulsion.apply();  // rewrites the particles' gradients
//     adam.step();        // also adds the noise, if the method has any
//   }
//
// A method can also act on an intermediate result, such as the outputs of heads or of models
// (repulsion in function space):
//
//   repulsion.act_on(contexts, 1);   // [B, H, T, d]: heads are axis 1
//   backward(loss);                  // rewrites dL/dcontexts, and propagates it to the weights
//   adam.step();
//
// Calls in another order throw Error: apply() marks the gradients that it has rewritten.

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

/// Diagnostics of one block of particles: the forces of the last apply(), and the present distances
/// between the particles.
struct BlockReport {
  std::string name;
  std::int64_t count, dim;  ///< M, number of particles, and D, their dimension
  /// The kernel's squared bandwidth; NaN if it has no bandwidth. 0 if its bandwidth rule returned 0
  /// (bandwidth.h), as for one particle or equal particles; there is no repulsion then.
  double h2;
  double driving, repulsive;  ///< Root mean square over particles of the norms of the driving and
                              ///< of the repulsive force, as written to the gradients.
  double ratio;               ///< repulsive/driving; NaN where both are 0.
  /// Factor by which the repulsion was reduced to keep the ratio at max_ratio; 1 if it was not.
  double damping;
  double alpha;  ///< The weight of the repulsion, before damping; NaN for a method without a
                 ///< weight.
  /// The α* at which the present particles would match the target's energy (alpha.h); NaN if α is
  /// 0, for a method without α, for one particle, and if the particles do not repel. α/α* is the
  /// effective temperature of the particles.
  double fair_alpha;
  PairSpread distance, cosine;  ///< Between pairs of the present particles.
  std::vector<double> norms;    ///< ‖θ_i‖ of the present particles.
};

/// Rewrites gradients so that particles follow the forces of a method: the sum of a driving and a
/// repulsive force, which a subclass defines, and possibly noise.
///
/// The repulsion is bounded. A kernel whose bandwidth adapts to the distances repels two nearly
/// equal particles with a force that grows as 1/distance; with a learning rate chosen for the loss,
/// a step would move them far away. So if the ratio of repulsive to driving force (root mean
/// squares over the block) exceeds max_ratio, α is lowered, for this step and block, until the
/// ratio equals max_ratio. Scaling the repulsion of all particles by one factor keeps its
/// directions, does not depend on the particles' order, position or scale, and leaves fixed points
/// unchanged, because there the two forces are equal. If the driving force is 0, the ratio is
/// undefined and the repulsion is not bounded.
class ParticleMethod {
 public:
  virtual ~ParticleMethod() = default;
  ParticleMethod(const ParticleMethod&) = delete;
  ParticleMethod& operator=(const ParticleMethod&) = delete;

  /// Name of the method in error messages, such as "svgd".
  virtual std::string name() const = 0;

  /// Rewrites the particles' gradients g = ∇loss in place to −φ·T/N, where φ is the method's update
  /// direction and T and N are the temperature and number of items of target(). This is in units of
  /// the mean loss, so that clipping, weight decay and learning rates mean the same for particles
  /// as for other parameters. Call it once, after backward() and before clipping and step(); a
  /// missing gradient of a parameter counts as 0. Rewritten gradients are marked until they are
  /// cleared: backward() and particle methods throw Error instead of adding to them.
  ///
  /// Throws Error, and changes nothing, if
  /// - there are no particles;
  /// - a block has no gradient at all, or a gradient that a method has already rewritten or a
  /// step() has already used: clear gradients before the next step;
  /// - a parameter was replaced by Module::to;
  /// - values, gradients or forces are not finite, also after rounding to the particles' dtype;
  /// - the noise of the last apply() was not added.
  void apply();

  /// Makes backward() rewrite the gradient of an intermediate result x as apply() rewrites those of
  /// parameters: each slice of x along `axis` is a particle. backward() propagates the rewritten
  /// gradient further to the parameters that x was computed from, which therefore receive forces
  /// between functions. N and T as in apply(); leave the prior precision λ at 0 unless x itself has
  /// that prior. report() has an entry called `name`, for the last backward pass that reached x.
  /// Throws Error for an axis that x lacks, for an x without history, and for a method with noise
  /// (noise must be added to parameters); backward() throws if values, gradients or forces are not
  /// finite, or if the method was destroyed while the hook was still registered.
  HookHandle act_on(const Tensor& x, int axis, std::string name = "activation");

  /// For programs that move particles without an optimizer: adds the noise of the last apply() to
  /// the particles once, scaled for a step of learning rate `rate`. (Optimizer::step() adds it by
  /// itself with its own rate, without preconditioning.) If a step was skipped, diffuse(0) discards
  /// the noise. Throws Error if the rate is negative or not finite, before the first apply(), and
  /// if the noise was added already. Does nothing for a method without noise.
  void diffuse(double rate);

  /// One entry per block, then one entry per name given to act_on(). Throws Error until apply() was
  /// called or a backward pass reached an x of act_on().
  std::vector<BlockReport> report() const;

  const Particles& particles() const& { return particles_; }
  Particles particles() && { return std::move(particles_); }

  const TargetDensity& target() const& { return target_; }
  TargetDensity target() && { return target_; }
  /// Sets the target density from the next step on, for annealing. Throws Error for an invalid
  /// target.
  void set_target(const TargetDensity& target);

 protected:
  /// A force on all particles: a matrix [M, D], or a sum over particles that is computed when it is
  /// converted to a Tensor. If both forces of a method are such sums, they are computed together,
  /// in one pass over memory.
  class Force {
   public:
    Force() = default;
    Force(Tensor formed) : rows_(std::move(formed)) {}  // NOLINT: implicit
    /// Σ_j k_ij g_j for k f64 [M, M] and g [M, D].
    static Force mixed(Tensor k, Tensor g) { return {std::move(k), std::move(g), false}; }
    /// Σ_j w_ij (θ_i − θ_j) for w f64 [M, M] and Θ [M, D].
    static Force spread(Tensor w, Tensor theta) { return {std::move(w), std::move(theta), true}; }
    operator Tensor() const;  // NOLINT: implicit
    bool defined() const { return rows_.defined(); }
    Tensor weights() const { return weights_; }    ///< k or w of a sum; undefined for a matrix
    Tensor rows() const { return rows_; }          ///< g or Θ of a sum, or the matrix itself
    bool spreads() const { return differences_; }  ///< Whether it was made by spread()

   private:
    Force(Tensor weights, Tensor rows, bool differences)
        : weights_(std::move(weights)), rows_(std::move(rows)), differences_(differences) {}
    Tensor weights_, rows_;
    bool differences_ = false;
  };

  /// Update direction φ of a method by −φ = scale·(driving − alpha·repulsive), in units of ∇U/T
  /// (target.h): `driving` is a gradient of U/T, which points uphill, `repulsive` a force, which
  /// points along the motion. Both are [M, D], in the particles' dtype or in f64.
  struct Forces {
    Force driving;
    Force repulsive = {};  ///< Undefined if there is no repulsion.
    std::optional<double> alpha =
        {};  ///< As BlockReport::alpha; if empty, `repulsive` has weight 1.
    double scale = 1;
    double h2 = std::numeric_limits<double>::quiet_NaN();  ///< As BlockReport::h2.
  };
  /// Noise sqrt(2·b·ε)·unit that a step of learning rate r adds to its update, with ε = r·T/N.
  struct Noise {
    Tensor unit = {};      ///< [M, D] ~ N(0, 1) in the block's dtype, finite; undefined if none.
    double diffusion = 0;  ///< b ≥ 0
  };

  /// max_ratio bounds the ratio of repulsive to driving force (infinity for no bound). Throws Error
  /// for an invalid target (N ≤ 0, λ < 0, T ≤ 0, or a number that is not finite), and unless
  /// max_ratio ≥ 1.
  explicit ParticleMethod(Particles particles, const TargetDensity& target = {},
                          double max_ratio = 100);

  /// The forces at the particles `theta`, where `gradient` is ∇U/T (target.h). Both arguments are
  /// [M, D] in the particles' dtype, finite, and must not be modified; the result may share their
  /// memory. `block` is the block's name, for error messages.
  virtual Forces forces(const std::string& block, const Tensor& theta,
                        const Tensor& gradient) const = 0;
  /// The α* of BlockReport::fair_alpha for the particles `theta` [M, D]; NaN by default.
  virtual double fair_alpha(const std::string& block, const Tensor& theta) const;
  /// Draws the noise of one step. Called by apply() once per block, in the order of blocks, after
  /// all checks of values and forces.
  virtual Noise noise(const ParticleBlock&) { return {}; }
  /// Whether noise() may return noise.
  virtual bool has_noise() const { return false; }

 private:
  struct Last {
    double h2, driving, repulsive, damping, alpha;
  };
  /// Particles and forces in the last backward pass that reached an x of act_on() with this name.
  struct Acted {
    std::string name;
    Tensor theta;
    Last last;
  };
  struct PendingNoise;
  void check_ready() const;
  struct Sums;
  static std::optional<Sums> formed_at_once(const Forces& f, double a, double b);
  Sums formed(const std::string& block, const Tensor& theta, const Forces& f, double a,
              double b) const;
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
  // Pointer to this object that does not own it. Hooks of act_on() hold it weakly, so they see when
  // the method is destroyed.
  const std::shared_ptr<ParticleMethod> self_{this, [](ParticleMethod*) {}};
};

}  // namespace ladon
