#pragma once
// Losses.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

enum class Reduction { mean, sum, none };

struct CrossEntropyOptions {
  double label_smoothing = 0;        ///< ε: the target becomes (1 − ε)·one-hot + ε/classes.
  std::int64_t ignore_index = -100;  ///< Rows with this target are excluded from loss and mean.
  /// [classes]: weight of each class, differentiable; the mean divides by the sum of the weights of
  /// the target classes. If undefined, all weights are 1.
  Tensor weight = {};
  Reduction reduction = Reduction::mean;
};
/// −ln softmax(logits)[target] over the last axis:  logits [.., classes], target i64 [..]. The mean
/// is 0 if every row is ignored. Throws Error for a target outside [0, classes) that is not
/// ignored, and for the mean of an empty batch.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options = {});

/// −log_probability[target] over the last axis; arguments, options and errors as for cross_entropy.
/// Throws Error for label smoothing.
Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const CrossEntropyOptions& options = {});

/// (prediction − target)², reduced to its mean or sum, or elementwise (Reduction::none). Throws
/// Error if shapes differ (no silent broadcast), and for the mean of an empty batch.
Tensor mse_loss(const Tensor& prediction, const Tensor& target,
                Reduction reduction = Reduction::mean);
/// |prediction − target|, reduced as in mse_loss, with the same errors.
Tensor l1_loss(const Tensor& prediction, const Tensor& target,
               Reduction reduction = Reduction::mean);
/// e²/2 where |e| ≤ delta, else delta·(|e| − delta/2), with e = prediction − target (Huber 1964);
/// reduced as in mse_loss, with the same errors. delta may be any number > 0 (Error otherwise); for
/// one outside the normal numbers of f32 the loss of f32 tensors is computed in f64.
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta = 1,
                  Reduction reduction = Reduction::mean);
/// huber_loss with delta = beta, divided by beta: slope ±1 far from 0 (Girshick 2015), and its
/// limit l1_loss for beta = 0. Throws Error unless beta ≥ 0.
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta = 1,
                      Reduction reduction = Reduction::mean);

struct BinaryCrossEntropyOptions {
  Tensor weight = {};      ///< Weight of each element's loss; broadcasts to the logits.
  Tensor pos_weight = {};  ///< p: weight of positive targets, where p > 1 favours recall;
                           ///< broadcasts to the logits.
  Reduction reduction = Reduction::mean;
};
/// −(p·t·ln σ(x) + (1 − t)·ln(1 − σ(x))) for logits x and targets t of one shape, with p =
/// pos_weight (default 1); accurate for large |x|. Targets are probabilities, or booleans. The mean
/// divides by the number of elements, whatever their weights. Throws Error if shapes differ, if a
/// weight does not broadcast to the logits' shape, and for the mean of an empty batch.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options = {});

struct KlDivOptions {
  bool log_target = false;  ///< The target is given as ln p.
  Reduction reduction = Reduction::mean;
};
/// KL(p ‖ q) = Σ p·(ln p − ln q) over the last axis, with p = target [.., n] and ln q =
/// log_probability [.., n]: one divergence per row [..], reduced to the mean or sum over rows
/// unless Reduction::none. Terms with p = 0 are 0, and so is their gradient with respect to the
/// target (its limit would be −∞), so such targets do not change in training. Throws Error if
/// shapes differ, and for the mean of an empty batch. (PyTorch calls this mean "batchmean" for
/// matrices; its "mean" also divides by n, and is not a divergence.)
Tensor kl_div(const Tensor& log_probability, const Tensor& target,
              const KlDivOptions& options = {});

/// ⟨a, b⟩/(max(‖a‖, eps)·max(‖b‖, eps)) along an axis, which the result lacks; a and b broadcast.
Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis = -1, double eps = 1e-8);

struct CosineEmbeddingOptions {
  double margin = 0;  ///< m in [−1, 1]: dissimilar pairs with a cosine below it have no loss.
  Reduction reduction = Reduction::mean;
};
/// 1 − c for a similar pair of rows (label 1), max(0, c − m) for a dissimilar pair (label −1), with
/// c = cosine_similarity(a, b) and m = margin; a and b are [.., n], label is [..]. Throws Error for
/// any other label, if shapes differ, and for the mean of an empty batch.
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& label,
                             const CosineEmbeddingOptions& options = {});

}  // namespace ladon
