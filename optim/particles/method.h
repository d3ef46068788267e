#pragma once
// What all particle methods share. A method and an optimizer compose; neither knows the other:
//
//   Svgd repulsion(particles(model), {.alpha = 0.1});
//   Adam adam(model.parameters());
//   for (…) {
//     adam.zero_grad();
//     backward(loss);
//     repulsion.apply();              // rewrites the particles' gradients
//     adam.step();
//     repulsion.diffuse(adam.lr());   // noise, for methods that have it
//   }

#include <string>
#include <vector>

#include "ladon/core/storage.h"
#include "ladon/optim/particles/diagnostics.h"
#include "ladon/optim/particles/particles.h"

namespace ladon {

/// What the particles are to sample: density ∝ exp(−U(θ)/T), U = N·loss − log prior. The defaults
/// take the loss itself as U.
struct Target {
  double count = 1;            ///< N: training items, when the loss is their mean.
  double prior_precision = 0;  ///< λ of the prior N(0, 1/λ) on every entry; 0: flat.
  double temperature = 1;      ///< T
};

/// ∇U(Θ)/T = (N·g + λ·Θ)/T, the negative score; g itself with the defaults.
Tensor target_gradient(const Target& target, const Tensor& theta, const Tensor& g);

/// What apply() did to one block, and where its particles stand now.
struct BlockReport {
  std::string name;
  std::int64_t count, dim;    ///< M and D
  double h2;                  ///< The kernel's squared bandwidth; 0 where there is none.
  double driving, repulsive;  ///< Root mean square over particles of the forces' norms.
  double ratio;               ///< repulsive/driving; NaN where both are 0.
  Spread distance, cosine;    ///< Between particles, as they stand now.
  std::vector<double> norms;  ///< ‖θ_i‖, as they stand now.
};

class ParticleMethod {
 public:
  virtual ~ParticleMethod() = default;
  ParticleMethod(const ParticleMethod&) = delete;
  ParticleMethod& operator=(const ParticleMethod&) = delete;

  /// Rewrites the particles' gradients g = ∇loss to −φ, the method's direction of descent, in
  /// place. Call it once, after backward() and before clipping and step(); a parameter without
  /// gradient counts as having gradient 0. Throws Error, and changes nothing, if a block still has
  /// the gradients that the last apply() wrote (no zero_grad() and backward() since: the force
  /// would be applied twice), or if particles are not finite. Gradients must be cleared between
  /// steps: backward() on top of rewritten gradients mixes the two, and this cannot be noticed.
  void apply();

  /// Adds the method's noise for a step of size ε, after the optimizer's step and so outside its
  /// preconditioner. Nothing for a method without noise.
  virtual void diffuse(double step_size);

  /// One entry a block. Throws Error before the first apply().
  std::vector<BlockReport> report() const;

  const Particles& particles() const { return particles_; }

 protected:
  /// The two parts of −φ = driving − repulsive, f64 [M, D].
  struct Forces {
    Tensor driving;
    Tensor repulsive;
    double h2 = 0;
  };
  ParticleMethod(Particles particles, const Target& target);

  /// `gradient` is ∇U/T at `theta`; both [M, D].
  virtual Forces forces(const ParticleBlock& block, const Tensor& theta,
                        const Tensor& gradient) const = 0;

 private:
  struct Last {
    std::vector<Storage> written;  // the gradients apply() wrote; held, so that no new one is taken
                                   // for an old one
    double h2, driving, repulsive;
  };
  void check_fresh() const;

  Particles particles_;
  Target target_;
  std::vector<Last> last_;
};

}  // namespace ladon
