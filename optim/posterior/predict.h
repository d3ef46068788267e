#pragma once
// Prediction with an infinitely wide network in one call.
//
//   const Predicted y = predict(model, train, targets, test);
//   y.mean;       // [M, O]
//   y.variance(); // [M], of f; the variance of a noisy target is y.variance() + y.noise
//
// Computes the kernels of limit(model), chooses noise and amplitude from the training set, and
// returns the posterior. To learn the model's hyper-parameters too, call
// learn_hyperparameters(model, …) of learn.h first.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// Criterion by which the noise is chosen, with the best amplitude for each noise: the
/// leave-one-out log density Σ ln p(target | all other targets), or the log marginal likelihood ln
/// p(targets) (Rasmussen and Williams 2006, eqs. 5.11 and 5.8).
enum class NoiseCriterion { leave_one_out, marginal_likelihood };

struct PredictOptions {
  /// nngp: the posterior of the network as a Bayesian model. ntk: mean and variance over networks
  /// that are trained to convergence by gradient descent from random initial weights (Lee et al.
  /// 2019); the noise then acts as a penalty on the distance of the weights from their initial
  /// values.
  infinite::Get kernel = infinite::Get::nngp;
  /// Noise variance in units of the mean of the kernel's diagonal; if empty, it is chosen between
  /// 1e-6 and 1e3.
  std::optional<double> relative_noise = {};
  NoiseCriterion choose_by = NoiseCriterion::leave_one_out;
  double jitter = 1e-8;
  /// Whether the mean of each output's targets is subtracted first and added to the predictions;
  /// false keeps the prior's mean of 0. It must be set (else Error) if the mean of an output's
  /// targets exceeds five standard deviations, since a prior with mean 0 would then shift
  /// predictions. The standard deviation is that of all targets around their outputs' means,
  /// because all outputs share kernel and amplitude. An output whose targets are all equal is
  /// exempt.
  std::optional<bool> center = {};
  /// Options for computing the kernels. Leave gram.get at ntk (Error for nngp if `kernel` is ntk):
  /// `kernel` above decides which kernel is computed. gram.memory_budget covers all of predict():
  /// Gram matrices, factors and workspace. Checkpoints are written to the subfolders "train" and
  /// "test" of gram.checkpoint.
  infinite::GramOptions gram = {};
};

/// Prediction of f at M test inputs. `covariance` contains the variances [M], which include the
/// amplitude.
struct Predicted : GpPrediction {
  double noise = 0;           ///< Variance of a target around f, including the amplitude.
  double relative_noise = 0;  ///< Noise in units of the mean of the kernel's diagonal.
  double amplitude = 1;       ///< Factor of the NNGP kernel.
  /// ln p(targets) with the chosen noise and amplitude. With Get::ntk, this and `left_out` are
  /// computed for a Gaussian process whose covariance is the NTK times an amplitude of its own,
  /// which also determines `relative_noise`; `noise` and `amplitude` are then computed for the NNGP
  /// kernel with the same `relative_noise`, because untrained networks are draws from its process.
  double log_marginal_likelihood = 0;
  LeaveOneOut left_out;  ///< Leave-one-out predictions of noisy targets.
  /// For each layer that draws random numbers, the mean fraction of a token's variance that its
  /// kernels between test and training inputs leave unexplained (infinite::Gram::unexplained).
  /// Empty if no layer draws.
  std::vector<double> unexplained = {};
  /// Largest standard error of a kernel element in units of the mean of the kernel's diagonal, if
  /// layers draw random numbers (infinite::Gram::nngp_se, ntk_se); 0 if all kernels have closed
  /// forms.
  double kernel_se = 0;
};

/// Memory and time of predict() with the same arguments, for the Gram matrices of training and test
/// inputs and the computations on them. estimate_predict() throws the Errors that predict() throws
/// before it computes.
struct PredictEstimate {
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< Time for the Gram matrices.
};
PredictEstimate estimate_predict(const Layer& model, const infinite::Inputs& train,
                                 const infinite::Inputs& test, const PredictOptions& options = {});

/// Predicts f at the test inputs. targets [N] or [N, O] must have mean 0 (for classes use
/// classification_targets()), or set options.center. The model must map each input to a vector.
/// Throws Error if shapes disagree, if memory would exceed the budget (before anything is
/// computed), if all targets or all kernels are 0, or if targets are far from 0 and options.center
/// is not set; and the Errors of gram() and GaussianProcess.
Predicted predict(const Layer& model, const infinite::Inputs& train, const Tensor& targets,
                  const infinite::Inputs& test, const PredictOptions& options = {});

/// Noise and amplitude for which the covariance amplitude·(K/k̄ + noise·I) explains targets [N, O]
/// best by a criterion; k̄ is the mean of the diagonal of the kernel K [N, N]. Found by a grid and
/// golden section search in ln noise, from one eigendecomposition. Throws Error if K has an
/// eigenvalue that is negative by more than rounding.
struct NoiseChoice {
  double relative_noise = 0, amplitude = 1, log_density = 0;
};
NoiseChoice choose_noise(const Tensor& kernel, const Tensor& targets, NoiseCriterion by);

}  // namespace ladon
