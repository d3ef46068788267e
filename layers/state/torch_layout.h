#pragma once
// Weights that travel to and from PyTorch.

#include "ladon/layers/state/foreign_names.h"

namespace ladon {

/// The state dict of the same model in PyTorch, whose modules have the names of this one's members.
/// Layers that PyTorch has too take its names and layouts:
///   MultiHeadAttention   in_proj_weight [3·dim, dim] (q, k, v), in_proj_bias, out_proj.weight, …
///   TransformerEncoderLayer  self_attn, linear1, linear2, norm1, norm2
///   TransformerDecoderLayer  self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3
///   TransformerEncoder, TransformerDecoder   layers.0, …, norm
///   Sequential               0, 1, …
///   Conv, ConvTranspose  weight [out, in, window..], [in, out, window..] (here: window first)
/// All others keep theirs. (The activation, the place of norms, final_norm, which nn.Transformer
/// always has, and eps are options, and are yours to match.)
/// Throws Error where a layer has no form there: attention of another form, with shared keys, a
/// hook, inputs of several widths, in ntk parameterization; a gated feed-forward block.
/// A layer of your own says its names by TorchForm.
StateDict to_torch(const Module& model);
/// Copies such a state dict into the model, in any floating dtype. Errors besides as
/// from_foreign's.
void from_torch(Module& model, const StateDict& state);

/// Base, beside Layer, of a layer of your own whose members PyTorch calls or lays out otherwise.
class TorchForm {
 public:
  virtual ~TorchForm() = default;
  /// A member, tensor or layer, by the name that visit() gives it: what it is called there and, of
  /// a tensor, its layout. {.foreign = name} where nothing differs.
  virtual ForeignTensor torch_form(const std::string& member) const = 0;
};

}  // namespace ladon
