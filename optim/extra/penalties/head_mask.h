#pragma once
// Masks that scale the heads of attention layers inside any model without changing its weights: to
// switch a head off, or to measure how much each head matters to the loss.

#include <functional>

#include "ladon/layers/attention/attention.h"

namespace ladon {

/// Scope in which the values of each head h of `layer`, and so its context, are multiplied by
/// mask_h. A head with mask 0 adds nothing to the output, as if its output weights output[h] were 0
/// (but it still counts in the factor 1/√heads of NTK parameterization). Call the model that
/// contains the layer as usual:
///
///   const HeadMask without(encoder.layers[0].attention, tensor({1, 0, 1, 1}));
///   accuracy(model(x), y);
///
/// The mask is part of the autograd graph; if it requires a gradient, its gradient is
///   ∂loss/∂mask_h = Σ ⟨context_h, ∂loss/∂context_h⟩.
///
/// A HeadMask replaces layer.hook by a hook that calls the previous one, whose members are then
/// named "hook.inner…"; its destructor restores the previous hook. The layer must outlive the mask
/// and must not be moved. Several masks on one layer multiply each other, and may be destroyed in
/// any order.
class HeadMask {
 public:
  /// mask: floating-point [heads], or [batch, heads] for one mask per example. Throws Error for any
  /// other shape or dtype; a call of the layer with another batch size throws Error, too.
  HeadMask(MultiHeadAttention& layer, const Tensor& mask);
  ~HeadMask();
  HeadMask(const HeadMask&) = delete;
  HeadMask& operator=(const HeadMask&) = delete;

 private:
  MultiHeadAttention& layer_;
  const AttentionHook* own_;
};

/// Importance of each head, f64 [heads]: the mean over examples b of the absolute derivative of the
/// loss with respect to the head's mask, at mask 1,
///   I_h = mean_b |∂loss_b/∂mask_h| = mean_b |⟨context_h, ∂loss_b/∂context_h⟩|.
/// To first order |∂loss_b/∂mask_h| is the change of an example's loss if the head is removed.
/// Prune the heads of least importance first (Michel, Levy and Neubig 2019).
///
/// `losses` runs the model, calling `layer` at least once, and returns the losses of the examples,
/// [batch], with history and not reduced. Each loss must depend on its own row of the batch alone
/// (no batch norm in training mode). For several batches average the results. The parameters'
/// gradients are not changed. Throws Error if `losses` does not call the layer or returns another
/// shape.
Tensor head_importance(MultiHeadAttention& layer, const std::function<Tensor()>& losses);

}  // namespace ladon
