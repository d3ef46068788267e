#pragma once
// Training of an infinitely wide network by gradient descent, in closed form (Jacot et al. 2018;
// Lee et al. 2019, "Wide neural networks of any depth evolve as linear models").
//
// In the limit of infinite width the NTK Θ stays constant during training. Under the loss
//   ½ ‖f − y‖²/|y|,   |y| = N·O, the number of target elements (as in Neural Tangents),
// gradient descent with learning rate η in the limit of small steps, df/dt = −η Θ (f − y)/|y|, then
// has the solution, with X the training inputs,
//   f_t(x) = f_0(x) + Θ(x, X) Φ_t (y − f_0(X)),   Φ_t = Θ⁻¹ (I − exp(−η t Θ/|y|)),
// where t counts steps. Along an eigenvector of Θ with eigenvalue λ, Φ_t is (1 − e^(−ηtλ/|y|))/λ,
// whose limit at λ = 0 is ηt/|y|.
//
// The Θ in Φ_t is the NTK of the training inputs plus δ·I, with δ = jitter·(mean of the NTK's
// diagonal). Θ(x, X) has no δ, even if x are training inputs. Adding δ·I is equivalent to a penalty
// ½ δ‖θ − θ_0‖²/|y| on the distance of the weights θ from their initial values θ_0: the equation
// for df/dt above is the one for δ = 0. The result at t → ∞ is therefore finite for singular
// kernels too, and is the limit of the results at finite times.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "ladon/core/tensor.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// The time t → ∞, at which training has converged.
inline constexpr double infinite_time = std::numeric_limits<double>::infinity();

struct GradientFlowOptions {
  double learning_rate = 1;  ///< η in df/dt = −η Θ (f − y)/|y|
  double jitter = 1e-8;      ///< Ridge δ on the NTK's diagonal, divided by the diagonal's mean
};

/// Outputs f_0 of one network before training; an undefined tensor means 0.
struct InitialOutputs {
  Tensor train = {};  ///< [N, O] (or [N])
  Tensor test = {};   ///< [M, O] (or [M])
};

/// NNGP kernels: the covariance of outputs over randomly initialized networks before training.
struct NngpBlocks {
  infinite::KernelMatrix train;  ///< [N, N]
  infinite::KernelMatrix cross;  ///< [M, N]
  infinite::KernelMatrix test;   ///< [M, M], or variances [M]
};

class GradientFlow {
 public:
  /// ntk [N, N], targets [N] or [N, O]. Throws Error where shapes disagree, the kernel is not
  /// symmetric, a value is not finite, the learning rate is not positive and finite, or the jitter
  /// is negative or not finite. Results have no derivatives: this constructor and all functions
  /// throw Error if a tensor that they are given requires a gradient and recording is on, or has a
  /// tangent of jvp.
  GradientFlow(const infinite::KernelMatrix& ntk, const Tensor& targets,
               const GradientFlowOptions& options = {});

  // In all functions below, t ≥ 0 is the training time in steps of gradient descent, fractions
  // allowed, or `infinite_time` for convergence (Error for a negative t or NaN). The first call
  // with a finite t computes an eigendecomposition of the kernel, the first with `infinite_time` a
  // Cholesky factorization; both are kept, and shared by copies. They throw Error if the kernel
  // with its jitter is not positive definite (at finite t: if an eigenvalue is negative by more
  // than rounding), naming the smallest eigenvalue and a sufficient jitter; and if a matrix
  // that is known to be an NNGP kernel or an NTK (infinite::KernelMatrix) is not the required one.

  /// Outputs at the training inputs at time t, [N, O]; `initial` are the outputs f_0(X) before
  /// training.
  Tensor train(double t, const Tensor& initial = {}) const;
  /// Outputs at M test inputs at time t, [M, O]; cross [M, N] is the NTK between test and training
  /// inputs.
  Tensor test(double t, const infinite::KernelMatrix& cross,
              const InitialOutputs& initial = {}) const;
  /// Mean and covariance of the outputs at time t over randomly initialized networks, f_0 ~ GP(0,
  /// NNGP) (Lee et al. 2019, corollary 1). For the outputs at the training inputs pass cross = ntk
  /// and the same NNGP kernel as nngp.train, nngp.cross and nngp.test. If ntk is the NNGP kernel,
  /// only the last layer is trained, and the limit t → ∞ is the Bayesian posterior. Throws Error if
  /// a variance is negative by more than rounding.
  GpPrediction ensemble(double t, const infinite::KernelMatrix& cross,
                        const NngpBlocks& nngp) const;

 private:
  struct Decompositions;
  Decompositions& decompositions() const;  // throws Error if this was moved from
  const Tensor& factor() const;            // L of LLᵀ = NTK + δI
  const Decompositions& eigenbasis() const;
  Tensor spectral(double t, const Tensor& r, bool times_kernel) const;
  Tensor phi(double t, const Tensor& r) const;
  Tensor residual(const Tensor& initial) const;

  std::optional<infinite::Get> kind_;
  Tensor ntk_;      // [N, N], without jitter
  Tensor targets_;  // [N, O]
  double rate_;     // η/|y|: learning rate divided by the number of target elements
  std::shared_ptr<Decompositions> decompositions_;
};

/// Learning rate above which discrete gradient descent on ½ ‖f − y‖²/|y| diverges:
///   2 (1 + momentum) |y| / λ_max(Θ)
/// with heavy-ball momentum in [0, 1). `elements` is |y| = N·O. Infinite if all elements of the
/// kernel are 0.
double max_learning_rate(const Tensor& ntk, std::int64_t elements, double momentum = 0);

}  // namespace ladon
