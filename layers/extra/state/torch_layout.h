#pragma once
// Exchange of weights with PyTorch.

#include "ladon/layers/extra/state/foreign_names.h"

namespace ladon {

/// The state dict of the same model in PyTorch, whose modules are named as the members of this
/// model. Layers that PyTorch has too get PyTorch's names and layouts:
///   MultiHeadAttention   in_proj_weight [3·dim, dim] (q, k, v), in_proj_bias, out_proj.weight, …
///   TransformerEncoderLayer  self_attn, linear1, linear2, norm1, norm2
///   TransformerDecoderLayer  self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3
///   TransformerEncoder, TransformerDecoder   layers.0, …, norm
///   Sequential               0, 1, …
///   Conv, ConvTranspose  weight [out, in, window..], [in, out, window..] (Ladon: channels last)
/// All other layers keep their names and layouts. (Options that must match: the activation, the
/// position of norms, eps, and final_norm, which nn.Transformer always has.) Throws Error if a
/// layer has no equivalent in PyTorch: a gated feed-forward block, and attention other than softmax
/// with sqrt scaling, or with tied or shared keys, positional encodings, a hook, a window, several
/// widths, or ntk parameterization. A user-defined layer gives its names by TorchForm.
StateDict to_torch(const Module& model);
/// Copies a state dict in the form of to_torch() into the model, from any floating dtype. Throws
/// Error if to_torch() would, and whenever from_foreign() does.
void from_torch(Module& model, const StateDict& state);

/// Base, in addition to Layer, of a user-defined layer whose members have other names or layouts in
/// PyTorch.
class TorchForm {
 public:
  virtual ~TorchForm() = default;
  /// The name in PyTorch of a member, tensor or layer, that visit() lists as `member`; for a tensor
  /// also its layout. {.foreign = member} if nothing differs.
  virtual ForeignTensor torch_form(const std::string& member) const = 0;
};

}  // namespace ladon
