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
  post,  ///< norm(x + f(x)): as published
};

enum class Normalization {
  layer,  ///< LayerNorm
  rms     ///< RmsNorm
};

struct TransformerEncoderLayerOptions {
  std::int64_t dim;
  std::int64_t heads;
  std::int64_t hidden = 0;  ///< Width of the feed-forward block; 0: 4·dim.
  double dropout = 0.1;     ///< After each branch and inside the feed-forward block.
  NormPlacement norm_placement = NormPlacement::pre;
  Nonlinearity activation = Nonlinearity::gelu;
  /// All other options of attention: {.causal = true, .kv_heads = 2}. Its dim and heads are the
  /// layer's, and so are the widths of its inputs and output. Its parameterization is also that of
  /// the feed-forward block; all layers of a stack share the trained weights of its hook.
  MultiHeadAttentionOptions attention = {};
  double weight_std = 1;  ///< σ_w of the feed-forward block, in ntk parameterization.
  double bias_std = 0;    ///< σ_b of the feed-forward block, in ntk parameterization.
  Normalization normalization = Normalization::layer;
  double norm_eps = 1e-5;
  /// contract(activation(gate(x)) ∘ expand(x)) in the feed-forward block (Shazeer 2020): SwiGLU
  /// with silu, GEGLU with gelu.
  bool gated = false;
  bool bias = true;  ///< Biases in all linear maps; in attention only if attention.bias is set too.
};

/// contract(activation(expand(x))), or with a gate:  [.., dim] → [.., dim].
struct FeedForward {
  Part<Linear> expand, gate, contract;
  Nonlinearity activation;
  Owned<Layer> whole;  ///< Layer that replaced the whole block by replace(); null: none.

  FeedForward(const TransformerEncoderLayerOptions& options, Generator& rng);
  /// `dropout` acts on the input of `contract`; mask: bool [batch, T], false = padding, for parts
  /// that mix positions.
  Tensor operator()(const Tensor& x, const Dropout& dropout, const Tensor& mask = {}) const;
  void visit(Visitor& v);  ///< Lists its members as if they were the layer's.
};

/// Self-attention and a feed-forward block, each with dropout, residual and norm:
/// [batch, T, dim] → [batch, T, dim].
struct TransformerEncoderLayer : Callable<TransformerEncoderLayer> {
  Part<MultiHeadAttention> attention;
  Owned<Layer> attention_norm, feedforward_norm;
  FeedForward feedforward;
  Dropout dropout;
  NormPlacement placement;

  /// Throws Error if `attention` of the options has another dim or heads, or other widths of inputs
  /// or output, and as its parts do.
  TransformerEncoderLayer(const TransformerEncoderLayerOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// New positions after those in the cache, as MultiHeadAttention's.
  Tensor forward(const Tensor& x, KeyValueCache& cache, const Tensor& mask = {}) const;
  /// The same, with the attention weights [batch, heads, T, T].
  AttentionResult forward_with_weights(const Tensor& x, const AttentionMask& mask) const;
  /// Composition of its parts' limits. Throws Error unless the inputs' channels have known means:
  /// those of data are known, those after a random linear map are 0, plus any fixed positions.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct TransformerEncoderOptions {
  TransformerEncoderLayerOptions layer;
  std::int64_t layers;
  /// Whether there is a norm after the last layer. nullopt: if pre-norm, whose stream has none.
  std::optional<bool> final_norm = {};
};

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;
using TransformerDecoderOptions = TransformerEncoderOptions;

/// A stack of encoder layers, with a final norm if there is one.
struct TransformerEncoder : Callable<TransformerEncoder> {
  std::vector<TransformerEncoderLayer> layers;
  Owned<Layer> final_norm;  ///< null: none

  TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// New positions after those in the cache.
  Tensor forward(const Tensor& x, DecodingCache& cache, const Tensor& mask = {}) const;
  /// The same, with the attention weights [batch, heads, T, T] of each layer.
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
/// positions are those of self-attention. There is no limit: the memory is a second input.
struct TransformerDecoderLayer : Callable<TransformerDecoderLayer> {
  Part<MultiHeadAttention> attention;
  MultiHeadAttention cross_attention;
  Owned<Layer> attention_norm, cross_attention_norm, feedforward_norm;
  FeedForward feedforward;
  Dropout dropout;
  NormPlacement placement;

  TransformerDecoderLayer(const TransformerDecoderLayerOptions& options, Generator& rng);
  /// Throws Error: it needs a memory.
  Tensor forward(const Tensor& x) const override;
  /// mask: for self-attention, in addition to the causal one; memory_mask: for attention to the
  /// memory.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                 const AttentionMask& memory_mask = {}) const;
  /// The same, with the weights of attention to the memory [batch, heads, T, S].
  AttentionResult forward_with_weights(const Tensor& x, const Tensor& memory,
                                       const AttentionMask& mask,
                                       const AttentionMask& memory_mask = {}) const;
  /// New positions after those in the cache.
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
  Owned<Layer> final_norm;  ///< null: none

  TransformerDecoder(const TransformerDecoderOptions& options, Generator& rng);
  /// Throws Error: it needs a memory.
  Tensor forward(const Tensor& x) const override;
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask = {},
                 const AttentionMask& memory_mask = {}) const;
  /// The same, with the weights of attention to the memory [batch, heads, T, S] of each layer.
  using Details = TransformerEncoder::Details;
  Details forward_with_weights(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                               const AttentionMask& memory_mask = {}) const;
  /// A cache that holds this memory, whose keys and values each layer has projected, and no
  /// positions yet. mask: bool [batch, S], false = padding; undefined: all are tokens.
  DecodingCache remember(const Tensor& memory, const Tensor& mask = {}) const;
  /// New positions after those in the cache. Throws Error unless remember() made it.
  Tensor forward(const Tensor& x, DecodingCache& cache, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct TransformerOptions {
  TransformerEncoderLayerOptions layer;
  std::int64_t encoder_layers = 6, decoder_layers = 6;
  std::optional<bool> final_norm = {};  ///< In both, as TransformerEncoderOptions'. PyTorch: true.
};

/// Encoder and decoder:  sources [batch, S, dim], targets [batch, T, dim] → [batch, T, dim].
/// Embeddings, positions and the map to a vocabulary belong to the model around it.
struct Transformer : Callable<Transformer> {
  TransformerEncoder encoder;
  TransformerDecoder decoder;

  Transformer(const TransformerOptions& options, Generator& rng);
  /// Throws Error: it needs targets.
  Tensor forward(const Tensor& sources) const override;
  /// source_mask: bool [batch, S], false = padding; undefined: all are tokens.
  Tensor forward(const Tensor& sources, const Tensor& targets,
                 const Tensor& source_mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
