#pragma once
// Prediction with an infinitely wide network in one call.
//
//   const Predicted y = predict(model, train, targets, test);
//   y.mean;       // [M, O]
//   y.variance(); // [M], of f; of a noisy target: + y.noise
//
// The kernels of limit(model), their noise and amplitude chosen by the training set, and the
// posterior. The model's σ's are learned before, by learn_hyperparameters(model, …) of learn.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon {

/// Criterion for noise and amplitude: Σ ln p(target | all others) (RW 5.11) or ln p(targets) (RW
/// 5.8), with the best amplitude for each noise.
enum class NoiseCriterion { leave_one_out, marginal_likelihood };

struct PredictOptions {
  /// nngp: the posterior of the network as a Bayesian model. ntk: the mean and the spread of
  /// networks trained to the end by gradient descent, each from weights of its own (Lee et al.
  /// 2019), the noise standing for a pull of the weights towards their beginning.
  infinite::Get kernel = infinite::Get::nngp;
  /// In units of the mean of the kernel's diagonal; none: chosen between 1e-6 and 1e3.
  std::optional<double> relative_noise = {};
  NoiseCriterion choose_by = NoiseCriterion::leave_one_out;
  double jitter = 1e-8;
  /// Whether the mean of each output's targets is taken off before and added to the predictions;
  /// false: the prior's mean of 0 is meant. It must be said where the mean of an output is more
  /// than five standard deviations of the targets around their outputs' means (Error otherwise): a
  /// prior around 0 would pull predictions away from them. The standard deviation is that over all
  /// outputs, which share kernel and amplitude. An output whose targets are all equal is taken as
  /// it is.
  std::optional<bool> center = {};
  /// Options of the kernels' computation. Its memory_budget counts all of predict(): Gram matrices,
  /// factors and what they are computed with. In its checkpoint the folders "train" and "test" are
  /// made.
  infinite::GramOptions gram = {};
};

/// Prediction of f. Covariances are given as variances [M], multiplied by the amplitude.
struct Predicted : GpPrediction {
  double noise = 0;                    ///< Variance of a target around f, with the amplitude.
  double relative_noise = 0;           ///< In units of the mean of the kernel's diagonal.
  double amplitude = 1;                ///< Factor of the NNGP kernel.
  double log_marginal_likelihood = 0;  ///< With this noise, and the amplitude of …
  LeaveOneOut left_out;  ///< … the options' kernel as a covariance; of noisy targets.
  /// Share of a token's variance that kernels between inputs leave out, on average, per layer that
  /// draws, for test and training inputs together (infinite::Gram::unexplained). Empty where no
  /// layer draws.
  std::vector<double> unexplained = {};
  /// Largest standard error of an entry of the kernels, which layers that draw have
  /// (infinite::Gram::nngp_se, ntk_se), in units of the mean of the kernel's diagonal; 0: closed.
  double kernel_se = 0;
};

/// Cost of predict() with the same arguments: the Gram matrices of training and test inputs with
/// what is done with them. Throws Error as predict() does before it computes.
struct PredictEstimate {
  std::uint64_t bytes = 0;
  double seconds = 0;  ///< Of the Gram matrices.
};
PredictEstimate estimate_predict(const Layer& model, const infinite::Inputs& train,
                                 const infinite::Inputs& test, const PredictOptions& options = {});

/// targets [N] or [N, O], of mean 0 (classes: classification_targets()) or with options.center. The
/// model must end in vectors. Throws Error where shapes disagree, where memory is over the budget
/// (before anything is computed), where all targets or all kernels are 0, for targets far from 0 if
/// options.center is not said, and as gram() and GaussianProcess do.
Predicted predict(const Layer& model, const infinite::Inputs& train, const Tensor& targets,
                  const infinite::Inputs& test, const PredictOptions& options = {});

/// The noise and amplitude that explain targets [N, O] best by amplitude·(K/k̄ + noise·1), k̄ being
/// the mean of the diagonal of a kernel K [N, N]: a search by golden sections in ln noise, of one
/// eigendecomposition. Throws Error, as GaussianProcess does, for a K that has an eigenvalue below
/// 0 by more than rounding.
struct NoiseChoice {
  double relative_noise = 0, amplitude = 1, log_density = 0;
};
NoiseChoice choose_noise(const Tensor& kernel, const Tensor& targets, NoiseCriterion by);

}  // namespace ladon
