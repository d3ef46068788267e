#pragma once
// Wasserstein gradient descent with a kernel density estimate: repulsion without smoothing
// (D'Angelo and Fortuin 2021, "Repulsive Deep Ensembles are Bayesian").

#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"

namespace ladon {

struct WgdOptions {
  SteinKernel kernel = rbf();
  Alpha alpha = 1;  ///< α ≥ 0: weight of the repulsion; or `automatic`.
  TargetDensity target = {};
  double max_ratio = 100;  ///< Bounds the repulsion by the driving force: see ParticleMethod.
};

/// φ_i = s_i + α·R_i/Σ_j k_ij,  s_i = −∇U(θ_i)/T, R as in kernel.h: the score of the posterior less
/// that of the particles' own density. One particle: the gradients keep every bit.
class Wgd : public ParticleMethod {
 public:
  /// Throws Error unless α is finite and ≥ 0; apply() does where a sum Σ_j k_ij is not positive,
  /// and where the kernel's values will not do (kernel.h, checked_at).
  explicit Wgd(Particles particles, WgdOptions options = {});
  /// Without particles: it acts where act_on() puts it.
  explicit Wgd(WgdOptions options) : Wgd(Particles(), std::move(options)) {}
  std::string name() const override { return "wgd"; }

  /// From the next step on: annealing. Errors as in the constructor.
  void set_alpha(Alpha alpha);

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override;
  double fair_alpha(const std::string& block, const Tensor& theta) const override;

 private:
  /// R_i/Σ_j k_ij
  Tensor spread(const std::string& block, const KernelAt& kernel) const;
  WgdOptions options_;
};

}  // namespace ladon
