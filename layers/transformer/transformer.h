#pragma once
// The Transformer (Vaswani et al. 2017): encoder, decoder, and both together. A language model is a
// causal encoder.

#include <functional>
#include <optional>
#include <vector>

#include "ladon/layers/activation.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/dropout.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/norm.h"
#include "ladon/layers/part.h"

namespace ladon {

enum class NormPlacement {
  pre,   ///< x + f(norm(x)): the residual stream is never normalized   (Xiong et al. 2020)
  post,  ///< norm(x + f(x)): as in Vaswani et al. 2017
};

enum class Normalization {
  layer,  ///< LayerNorm
  rms     ///< RmsNorm
};

struct TransformerEncoderLayerOptions {
  std::int64_t dim;
  std::int64_t heads;
  std::int64_t hidden = 0;  ///< Width of the feed-forward block; 0 means 4·dim.
  double dropout = 0.1;     ///< Dropout probability, after branches and in the feed-forward block.
  NormPlacement norm_placement = NormPlacement::pre;
  Nonlinearity activation = Nonlinearity::gelu;
  /// All other options of attention, such as {.causal = true, .kv_heads = 2}. Leave dim, heads and
  /// the widths of inputs and output at 0: they are those of the layer. Its parameterization is
  /// also that of the feed-forward block. If it has a hook, all layers of a stack share the hook's
  /// trained weights.
  MultiHeadAttentionOptions attention = {};
  /// σ_w and σ_b of the feed-forward block in ntk parameterization; in standard parameterization
  /// they must have their defaults (Error otherwise).
  double weight_std = 1, bias_std = 0;
  Normalization normalization = Normalization::layer;
  double norm_eps = 1e-5;
  /// Whether the feed-forward block is gated, contract(activation(gate(x)) ∘ expand(x)) (Shazeer
  /// 2020): SwiGLU with silu, GEGLU with gelu.
  bool gated = false;
  bool bias = true;  ///< Biases in all linear maps; in attention only if attention.bias is set too.
};

/// contract(activation(expand(x))), or contract(activation(gate(x)) ∘ expand(x)):
/// [.., dim] → [.., dim].
struct FeedForward {
  Part<Linear> expand, gate, contract;
  Nonlinearity activation;
  Owned<Layer> whole;  ///< Layer by which replace() replaced the whole block, or null.

  FeedForward(const TransformerEncoderLayerOptions& options, Generator& rng);
  /// `dropout` acts on the input of `contract`; mask: bool [batch, T], false = padding, for parts
  /// that mix positions.
  Tensor operator()(const Tensor& x, const Dropout& dropout, const Tensor& mask = {}) const;
  void visit(Visitor& v);  ///< Lists the maps as members of the surrounding layer.
};

/// Self-attention and a feed-forward block, each with dropout, residual and norm:
/// [batch, T, dim] → [batch, T, dim].
struct TransformerEncoderLayer : Callable<TransformerEncoderLayer> {
  Part<MultiHeadAttention> attention;
  Owned<Layer> attention_norm, feedforward_norm;
  FeedForward feedforward;
  Dropout dropout;
  NormPlacement placement;

  /// Throws Error if `attention` of the options sets another dim or heads, or other widths of
  /// inputs or output, and whenever the constructors of its parts do.
  TransformerEncoderLayer(const TransformerEncoderLayerOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// Output for new positions x that follow those in the cache, as in MultiHeadAttention.
  Tensor forward(const Tensor& x, KeyValueCache& cache, const Tensor& mask = {}) const;
  /// Output of forward(), with the attention weights [batch, heads, T, T].
  AttentionResult forward_with_weights(const Tensor& x, const AttentionMask& mask) const;
  /// Composition of the limits of its parts. Throws Error unless the means of the inputs' channels
  /// are known: means of data are known, and means after a random linear map are 0, plus those of a
  /// fixed table of positions.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct TransformerEncoderOptions {
  TransformerEncoderLayerOptions layer;
  std::int64_t layers;
  /// Whether there is a norm after the last layer. By default there is one for pre-norm, whose
  /// residual stream is not normalized otherwise, and none for post-norm.
  std::optional<bool> final_norm = {};
};

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;
using TransformerDecoderOptions = TransformerEncoderOptions;

/// A stack of encoder layers, with a final norm if there is one.
struct TransformerEncoder : Callable<TransformerEncoder> {
  std::vector<TransformerEncoderLayer> layers;
  Owned<Layer> final_norm;  ///< Null if there is no final norm.

  TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// Output for new positions x that follow those in the cache.
  Tensor forward(const Tensor& x, DecodingCache& cache, const Tensor& mask = {}) const;
  /// Output of forward(), with the attention weights [batch, heads, T, T] of each layer.
  struct Details {
    Tensor output;
    std::vector<Tensor> weights;
  };
  Details forward_with_weights(const Tensor& x, const AttentionMask& mask) const;
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

// --- decoder ---

/// Self-attention, which is causal unless attention->causal is set to false, attention to a memory
/// [batch, S, dim], and a feed-forward block, each with dropout, residual and norm:  [batch, T,
/// dim] → [batch, T, dim]. Both attentions have the `form` of the options; hook, window and
/// positions apply only to self-attention. There is no limit: the memory is a second input.
struct TransformerDecoderLayer : Callable<TransformerDecoderLayer> {
  Part<MultiHeadAttention> attention;
  MultiHeadAttention cross_attention;
  Owned<Layer> attention_norm, cross_attention_norm, feedforward_norm;
  FeedForward feedforward;
  Dropout dropout;
  NormPlacement placement;

  TransformerDecoderLayer(const TransformerDecoderLayerOptions& options, Generator& rng);
  /// Throws Error: a decoder needs a memory.
  Tensor forward(const Tensor& x) const override;
  /// mask: for self-attention, in addition to the causal one; memory_mask: for attention to the
  /// memory.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                 const AttentionMask& memory_mask = {}) const;
  /// Output of forward(), with the weights of attention to the memory [batch, heads, T, S].
  AttentionResult forward_with_weights(const Tensor& x, const Tensor& memory,
                                       const AttentionMask& mask,
                                       const AttentionMask& memory_mask = {}) const;
  /// Output for new positions x that follow those in the cache.
  Tensor forward(const Tensor& x, const ProjectedMemory& memory, KeyValueCache& cache,
                 const Tensor& mask = {}, const AttentionMask& memory_mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  using Attend = std::function<Tensor(const Tensor&)>;
  Tensor around(const Tensor& x, const Tensor& mask, const Attend& attend,
                const Attend& look) const;
};

/// A stack of decoder layers, with a final norm if there is one.
struct TransformerDecoder : Callable<TransformerDecoder> {
  std::vector<TransformerDecoderLayer> layers;
  Owned<Layer> final_norm;  ///< Null if there is no final norm.

  TransformerDecoder(const TransformerDecoderOptions& options, Generator& rng);
  /// Throws Error: a decoder needs a memory.
  Tensor forward(const Tensor& x) const override;
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                 const AttentionMask& memory_mask = {}) const;
  /// Output of forward(), with the weights of attention to the memory [batch, heads, T, S] of each
  /// layer.
  using Details = TransformerEncoder::Details;
  Details forward_with_weights(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                               const AttentionMask& memory_mask = {}) const;
  /// New cache with this memory, whose keys and values each layer projects once, and with no
  /// positions yet. mask: bool [batch, S], false = padding; undefined means all are tokens.
  DecodingCache remember(const Tensor& memory, const Tensor& mask = {}) const;
  /// Output for new positions x that follow those in the cache. Throws Error unless remember() made
  /// the cache.
  Tensor forward(const Tensor& x, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct TransformerOptions {
  /// attention.causal and attention.window are those of the decoder, which is causal in any case;
  /// the encoder attends to all tokens.
  TransformerEncoderLayerOptions layer;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  /// Whether encoder and decoder end in a norm, as in TransformerEncoderOptions. (In PyTorch's
  /// nn.Transformer both always do.)
  std::optional<bool> final_norm = {};
};

/// Encoder and decoder:  sources [batch, S, dim], targets [batch, T, dim] → [batch, T, dim].
/// Embeddings, positions and the map to a vocabulary belong to the model around it.
struct Transformer : Callable<Transformer> {
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  Transformer(const TransformerOptions& options, Generator& rng);
  /// Throws Error: it needs targets.
  Tensor forward(const Tensor& sources) const override;
  /// source_mask: bool [batch, S], false = padding; undefined means all are tokens.
  Tensor forward(const Tensor& sources, const Tensor& targets,
                 const Tensor& source_mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
