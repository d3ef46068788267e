#pragma once
// Multi-head attention, head-major: head h of a projection is the slice [h], one contiguous row of
// numbers, which is what makes a head a particle (optim/particles).

#include "ladon/layers/init.h"
#include "ladon/layers/module.h"

namespace ladon {

struct MultiHeadAttentionOptions {
  std::int64_t dim;  ///< Width of the queries and of the output.
  std::int64_t heads;
  std::int64_t head_dim = 0;   ///< Width of a head; 0: dim/heads (Error if it does not divide).
  std::int64_t key_dim = 0;    ///< Width of the keys' input (cross-attention); 0: dim.
  std::int64_t value_dim = 0;  ///< Width of the values' input; 0: key_dim.
  bool bias = true;
  bool causal = false;
  double dropout = 0;  ///< Of the attention weights, in training mode.
  /// Of each projection, seen as one matrix [heads·head_dim, dim].
  Init init = Init::xavier_uniform;
};

/// What a call may pass beside its inputs. Boolean masks: true = may attend.
struct AttentionMasks {
  Tensor mask = {};      ///< bool or additive, broadcast to [batch, heads, Tq, Tk].
  Tensor key_mask = {};  ///< bool [batch, Tk]: which keys are tokens (false = padding).
};

/// out = Σ_h softmax(Q_h·K_hᵀ/sqrt(head_dim))·V_h·O_h + b  with Q_h = x·W_hᵀ   (Vaswani et al.
/// 2017). A query that may attend to nothing gives the output bias.
struct MultiHeadAttention : Layer {
  Tensor query;   ///< [heads, head_dim, dim]
  Tensor key;     ///< [heads, head_dim, key_dim]
  Tensor value;   ///< [heads, head_dim, value_dim]
  Tensor output;  ///< [heads, head_dim, dim]: head h adds context_h·output[h]
  Tensor query_bias, key_bias, value_bias;  ///< [heads, head_dim]; undefined when bias = false
  Tensor output_bias;                       ///< [dim]
  bool causal;
  double dropout;
  mutable Generator rng;

  /// Throws Error where heads do not divide dim and head_dim is not given.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Generator& rng);

  std::int64_t heads() const { return query.size(0); }
  std::int64_t head_dim() const { return query.size(1); }

  /// Self-attention:  [batch, T, dim] → [batch, T, dim].
  Tensor forward(const Tensor& x) const override { return forward(x, x, x); }
  Tensor forward(const Tensor& x, const AttentionMasks& masks) const {
    return forward(x, x, x, masks);
  }
  /// Cross-attention:  queries [batch, Tq, dim], keys [batch, Tk, key_dim], values [batch, Tk,
  /// value_dim] → [batch, Tq, dim].
  Tensor forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionMasks& masks = {}) const;

  /// The same with the attention weights [batch, heads, Tq, Tk] and the heads' contexts
  /// [batch, heads, Tq, head_dim] (before the output projection).
  struct Details {
    Tensor output, weights, contexts;
  };
  Details forward_with_weights(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               const AttentionMasks& masks = {}) const;

  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  struct Projected {
    Tensor q, k, v;
  };
  Projected project(const Tensor& queries, const Tensor& keys, const Tensor& values) const;
  AttentionOptions options(const AttentionMasks& masks, const Tensor& keys) const;
  Tensor combine(const Tensor& contexts) const;
};

/// torch's layout, for weights that travel: in_proj_weight [3·dim, dim] (q, k, v stacked,
/// head-major rows), in_proj_bias [3·dim], out_proj.weight [dim, dim], out_proj.bias [dim]. Throws
/// Error where the layer has no such form (different key width) or a shape disagrees; the layer
/// then stays as it was.
StateDict to_torch(const MultiHeadAttention& layer);
void from_torch(MultiHeadAttention& layer, const StateDict& state);

}  // namespace ladon
