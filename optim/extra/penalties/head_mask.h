#pragma once
// Masks that scale heads inside any model without changing its weights: to switch a head off, or to
// measure how much each one matters to the loss.

#include <functional>

#include "ladon/layers/attention/attention.h"

namespace ladon {

/// While one is alive, head h of `layer` is weighted by mask_h: its values, and so its context, are
/// multiplied. A head with mask 0 adds nothing to the output, as if the rows output[h] were zero
/// (but it still counts in the output's scale 1/√heads in NTK parameterization). The model that
/// contains the layer is called as usual:
///
///   const HeadMask without(encoder.layers[0].attention, tensor({1, 0, 1, 1}));
///   accuracy(model(x), y);
///
/// The mask is part of the recorded graph; if it requires a gradient it gets
///   ∂loss/∂mask_h = Σ ⟨context_h, ∂loss/∂context_h⟩.
///
/// It replaces layer.hook and calls the previous hook, whose members are then named "hook.inner…"
/// and which is restored at the end. The layer must outlive the mask and must not be moved. Several
/// masks on one layer multiply each other, and may end in any order.
class HeadMask {
 public:
  /// mask: floating [heads], or [batch, heads] for one mask per example. Throws Error for others;
  /// calls of the layer throw if the batch size differs.
  HeadMask(MultiHeadAttention& layer, const Tensor& mask);
  ~HeadMask();
  HeadMask(const HeadMask&) = delete;
  HeadMask& operator=(const HeadMask&) = delete;

 private:
  MultiHeadAttention& layer_;
  const AttentionHook* own_;
};

/// Importance of each head, f64 [heads]: the mean absolute slope of the loss at mask 1,
///   I_h = mean_b |∂loss_b/∂mask_h| = mean_b |⟨context_h, ∂loss_b/∂context_h⟩|,
/// to first order the change of an example's loss if the head is removed. Pruning removes heads of
/// least importance first (Michel, Levy and Neubig 2019).
///
/// `losses` runs the model, calling `layer` at least once, and returns the examples' losses
/// [batch], recorded and not reduced, each depending on its row of the batch alone (no batch norm
/// in training mode). For several batches average the results. Parameters' gradients are not
/// changed. Throws Error if `losses` does not call the layer or returns another shape.
Tensor head_importance(MultiHeadAttention& layer, const std::function<Tensor()>& losses);

}  // namespace ladon
