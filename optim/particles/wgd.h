#pragma once
// Wasserstein gradient descent with a kernel density estimate: repulsion without smoothing
// (D'Angelo and Fortuin 2021, "Repulsive Deep Ensembles are Bayesian").

#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"

namespace ladon {

struct WgdOptions {
  SteinKernel kernel = rbf();
  /// α ≥ 0: weight of the repulsion; or `automatic`. α = 0 switches the repulsion off, and the
  /// kernel then changes no gradient. The kernel and max_ratio may be set nevertheless, so that α
  /// can be varied or annealed down to 0; report() still gives the kernel's bandwidth.
  Alpha alpha = 1;
  TargetDensity target = {};
  double max_ratio = 100;  ///< Upper bound on the ratio of repulsive to driving force: see
                           ///< ParticleMethod.
};

/// WGD's update direction φ_i = s_i + α·R_i/Σ_j k_ij of particles θ_i, with the score s_i =
/// −∇U(θ_i)/T (target.h), kernel k and repulsion R_i (kernel.h): the target's score minus, for α =
/// 1, the score of a kernel density estimate of the particles. With one particle, a radial kernel
/// and the default target the gradients are unchanged bit for bit.
class Wgd : public ParticleMethod {
 public:
  /// Throws Error unless α is `automatic`, or finite and ≥ 0; apply() throws if a sum Σ_j k_ij is
  /// not positive, or if the kernel's results are invalid (kernel.h, checked_at).
  explicit Wgd(Particles particles, WgdOptions options = {});
  /// The method without particles, for use with act_on() only.
  explicit Wgd(WgdOptions options) : Wgd(Particles(), std::move(options)) {}
  std::string name() const override { return "wgd"; }

  /// Sets α from the next step on, for annealing. Throws Error unless α is `automatic`, or finite
  /// and ≥ 0.
  void set_alpha(Alpha alpha);

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  double fair_alpha(const std::string& block, const Tensor& theta) const override;

 private:
  /// The repulsive force R_i/Σ_j k_ij  [M, D], with the kernel k and its repulsion R_i.
  Force spread(const std::string& block, const KernelAt& kernel, const Tensor& theta) const;
  WgdOptions options_;
};

}  // namespace ladon
