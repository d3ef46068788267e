#pragma once
// Heads made to count more or less inside any model, without touching its weights: to switch one
// off, and to ask the loss how much each matters.

#include <functional>

#include "ladon/layers/attention/attention.h"

namespace ladon {

/// While one is alive, head h of `layer` counts mask_h times: its values, and so its context, are
/// multiplied. A head of mask 0 adds nothing to the output, as if the rows output[h] were zero (it
/// still takes its share of the output's scale 1/√heads in ntk parameterization). Wherever the
/// layer stands in a model, the model's own calls see it:
///
///   const HeadMask without(encoder.layers[0].attention, tensor({1, 0, 1, 1}));
///   accuracy(model(x), y);
///
/// Recorded: a mask that requires a gradient gets one,
///   ∂loss/∂mask_h = Σ ⟨context_h, ∂loss/∂context_h⟩.
///
/// It stands in the place of layer.hook and calls the one that was there, whose members are named
/// "hook.inner…" meanwhile and which is put back at the end. The layer must outlive it and stay
/// where it is. Masks on one layer multiply each other, and end in any order.
class HeadMask {
 public:
  /// mask: floating [heads], or [batch, heads] for another one per example; throws Error for
  /// others, and in the layer's calls where the batch is another.
  HeadMask(MultiHeadAttention& layer, const Tensor& mask);
  ~HeadMask();
  HeadMask(const HeadMask&) = delete;
  HeadMask& operator=(const HeadMask&) = delete;

 private:
  MultiHeadAttention& layer_;
  const AttentionHook* own_;
};

/// Importance of each head, f64 [heads]: the loss's slope at mask 1,
///   I_h = mean_b |∂loss_b/∂mask_h| = mean_b |⟨context_h, ∂loss_b/∂context_h⟩|,
/// to first order the change of an example's loss where the head is removed. Heads are pruned by
/// it, the smallest first (Michel, Levy and Neubig 2019).
///
/// `losses` runs the model, calling `layer` once or more, and returns the examples' losses [batch],
/// recorded and not reduced, each from its own row of the batch alone (no batch norm in training
/// mode). Over several batches take the mean. Parameters' gradients are not touched. Throws Error
/// where `losses` does not call the layer or returns another shape.
Tensor head_importance(MultiHeadAttention& layer, const std::function<Tensor()>& losses);

}  // namespace ladon
