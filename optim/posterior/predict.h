#pragma once
// Prediction with an infinitely wide network in one call.
//
//   const Predicted y = predict(model, train, targets, test);
//   y.mean;       // [M, O]
//   y.variance(); // [M], of f; of a noisy target: + y.noise
//
// Computes the kernels of limit(model), chooses noise and amplitude from the training set, and
// returns the posterior. Learn the model's σ's before, by learn_hyperparameters(model, …) of
// learn.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// Criterion for noise and amplitude: Σ ln p(target | all others) (RW 5.11) or ln p(targets) (RW
/// 5.8), each with the best amplitude for every noise.
enum class NoiseCriterion { leave_one_out, marginal_likelihood };

struct PredictOptions {
  /// nngp: the posterior of the network as a Bayesian model. ntk: the mean and the spread of
  /// networks trained to convergence by gradient descent, each from its own initial weights (Lee et
  /// al. 2019); the noise then acts as a penalty on the distance of the weights from their initial
  /// values.
  infinite::Get kernel = infinite::Get::nngp;
  /// In units of the mean of the kernel's diagonal; empty: chosen between 1e-6 and 1e3.
  std::optional<double> relative_noise = {};
  NoiseCriterion choose_by = NoiseCriterion::leave_one_out;
  double jitter = 1e-8;
  /// Whether the mean of each output's targets is subtracted first and added to the predictions;
  /// false keeps the prior's mean of 0. Required (else Error) if the mean of an output exceeds five
  /// standard deviations of the targets around their outputs' means, since a prior with mean 0
  /// would then shift predictions. The standard deviation is over all outputs, which share kernel
  /// and amplitude. An output whose targets are all equal is exempt.
  std::optional<bool> center = {};
  /// Options of the kernels' computation. Its memory_budget covers all of predict(): Gram matrices,
  /// factors and workspace. In its checkpoint folder the subfolders "train" and "test" are created.
  infinite::GramOptions gram = {};
};

/// Prediction of f. The covariance is given as variances [M], multiplied by the amplitude.
struct Predicted : GpPrediction {
  double noise = 0;                    ///< Variance of a target around f, including the amplitude.
  double relative_noise = 0;           ///< In units of the mean of the kernel's diagonal.
  double amplitude = 1;                ///< Factor of the NNGP kernel.
  double log_marginal_likelihood = 0;  ///< ln p(targets) with the chosen noise and amplitude.
  LeaveOneOut left_out;                ///< Leave-one-out predictions of noisy targets.
  /// Fraction of a token's variance that kernels between inputs leave unexplained, on average, per
  /// layer that draws, over test and training inputs (infinite::Gram::unexplained). Empty if no
  /// layer draws.
  std::vector<double> unexplained = {};
  /// Largest standard error of a kernel entry, if layers draw (infinite::Gram::nngp_se, ntk_se), in
  /// units of the mean of the kernel's diagonal; 0: closed form.
  double kernel_se = 0;
};

/// Cost of predict() with the same arguments: the Gram matrices of training and test inputs and the
/// computations on them. Throws Error as predict() does before it computes.
struct PredictEstimate {
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< Time for the Gram matrices.
};
PredictEstimate estimate_predict(const Layer& model, const infinite::Inputs& train,
                                 const infinite::Inputs& test, const PredictOptions& options = {});

/// targets [N] or [N, O], of mean 0 (for classes: classification_targets()) or with options.center.
/// The model must end in vectors. Throws Error where shapes disagree, if memory would exceed the
/// budget (before anything is computed), if all targets or all kernels are 0, if targets are far
/// from 0 and options.center is not set, and as gram() and GaussianProcess do.
Predicted predict(const Layer& model, const infinite::Inputs& train, const Tensor& targets,
                  const infinite::Inputs& test, const PredictOptions& options = {});

/// The noise and amplitude with which amplitude·(K/k̄ + noise·1) explains targets [N, O] best, k̄
/// being the mean of the diagonal of a kernel K [N, N]: golden section search in ln noise, from one
/// eigendecomposition. Throws Error, as GaussianProcess does, if K has an eigenvalue that is
/// negative by more than rounding.
struct NoiseChoice {
  double relative_noise = 0, amplitude = 1, log_density = 0;
};
NoiseChoice choose_noise(const Tensor& kernel, const Tensor& targets, NoiseCriterion by);

}  // namespace ladon
