#pragma once
// Multi-head attention, head-major: head h of a projection is the slice [h], one contiguous row of
// numbers, which is what makes a head a particle (optim/particles).

#include <optional>

#include "ladon/layers/init.h"
#include "ladon/layers/module.h"
#include "ladon/layers/positional.h"

namespace ladon {

/// What the logits ⟨q, k⟩ are divided by.
enum class AttentionScaling {
  sqrt,   ///< sqrt(head_dim) (Vaswani et al. 2017): they stay random however wide the head is.
  linear  ///< head_dim (Hron et al. 2020): they have a limit, their mean.
};

/// What turns logits into weights. Where a query may not attend, the weight is 0.
enum class Zeta { softmax, identity, relu, abs };
/// ζ of logits [.., Tq, Tk]; softmax is over the last axis, and zero where all are −∞.
Tensor apply(Zeta zeta, const Tensor& logits);

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

  std::int64_t value_head_dim = 0;  ///< Width of a head's values; 0: head_dim.
  std::int64_t out = 0;             ///< Width of the output; 0: dim.
  AttentionScaling scaling = AttentionScaling::sqrt;
  Zeta zeta = Zeta::softmax;
  bool tied = false;            ///< Queries and keys share their weights.
  bool projection_bias = true;  ///< Whether `bias` covers queries, keys and values too.
  /// Added to (or set beside) the inputs of queries and keys; its `in` is set to theirs.
  std::optional<RandomPositionsOptions> positions = {};
  bool values_see_positions = false;  ///< Whether they are told to the values too.

  Parameterization parameterization = Parameterization::standard;
  // ntk parameterization (the only biases are then those of the output):
  double query_key_std = 1;     ///< QK = σ_Q·σ_K
  double value_output_std = 1;  ///< OV = σ_O·σ_V
  double bias_std = 0;          ///< σ_b; 0: no bias.

  /// Of `limit` where it has no closed form: draws for one estimate, and their seed.
  std::int64_t limit_samples = 256;
  std::uint64_t limit_seed = 0;
};

/// What a call may pass beside its inputs. Boolean masks: true = may attend.
struct AttentionMasks {
  Tensor mask = {};      ///< bool or additive (softmax only), broadcast to [batch, heads, Tq, Tk].
  Tensor key_mask = {};  ///< bool [batch, Tk]: which keys are tokens (false = padding).
};

/// out = Σ_h ζ(G_h)·V_h·O_h + b  with G_h = Q_h·K_hᵀ/sqrt(head_dim), Q_h = x·W_hᵀ, ζ = softmax
/// (Vaswani et al. 2017). A query that may attend to nothing gives the output bias.
///
/// In ntk parameterization all weights are N(0, 1), and with d the width of each input
///   G_h = QK/(d·head_dim^p)·Q_h·K_hᵀ, p = ½ or 1;  out = OV/sqrt(value_head_dim·heads·d)·Σ_h … + σ_b·b
/// (Hron, Bahri, Sohl-Dickstein and Novak 2020, "Infinite attention").
struct MultiHeadAttention : Layer {
  Tensor query;   ///< [heads, head_dim, dim]
  Tensor key;     ///< [heads, head_dim, key_dim]; undefined when tied
  Tensor value;   ///< [heads, value_head_dim, value_dim]
  Tensor output;  ///< [heads, value_head_dim, out]: head h adds context_h·output[h]
  Tensor query_bias, key_bias, value_bias;  ///< [heads, head_dim]; undefined where there are none
  Tensor output_bias;                       ///< [out]; undefined when bias = false
  std::optional<RandomPositions> positions;
  bool values_see_positions;
  AttentionScaling scaling;
  Zeta zeta;
  bool tied, causal;
  double dropout;
  Tensor query_key_std, value_output_std, bias_std;  ///< f64 numbers; undefined in standard
  Init init;                                         ///< parameterization.
  std::int64_t limit_samples;
  std::uint64_t limit_seed;
  mutable Generator rng;

  /// Throws Error where heads do not divide dim and head_dim is not given, where tied queries and
  /// keys have inputs of different widths, and for sizes or deviations out of range.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Generator& rng);

  std::int64_t heads() const { return query.size(0); }
  std::int64_t head_dim() const { return query.size(1); }
  std::int64_t value_head_dim() const { return value.size(1); }
  Parameterization parameterization() const {
    return query_key_std.defined() ? Parameterization::ntk : Parameterization::standard;
  }

  /// Self-attention:  [batch, T, dim] → [batch, T, out], or [batch, H, W, dim] → [batch, H, W, out].
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMasks{}); }
  Tensor forward(const Tensor& x, const AttentionMasks& masks) const;
  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMasks& masks) const {
    return called([&] { return forward(x, masks); });
  }
  /// Self-attention to the positions where mask (bool [batch, T]) is true.
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, AttentionMasks{.key_mask = mask});
  }
  /// Cross-attention:  queries [batch, Tq, dim], keys [batch, Tk, key_dim], values [batch, Tk,
  /// value_dim] → [batch, Tq, out].
  Tensor forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionMasks& masks = {}) const;
  Tensor operator()(const Tensor& queries, const Tensor& keys, const Tensor& values,
                    const AttentionMasks& masks = {}) const {
    return called([&] { return forward(queries, keys, values, masks); });
  }

  /// The same with the attention weights [batch, heads, Tq, Tk] and the heads' contexts
  /// [batch, heads, Tq, value_head_dim] (before the output projection).
  struct Details {
    Tensor output, weights, contexts;
  };
  Details forward_with_weights(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               const AttentionMasks& masks = {}) const;

  /// Self-attention as heads → ∞ (and head_dim, value_head_dim, the inputs' width). With linear
  /// scaling one wide head has the same limit; with sqrt scaling a network of few heads does not
  /// come near it. See infinite/attention_limit.h for what each form gives. In standard
  /// parameterization the NTK is its leading order in the widths, as Linear's. Throws Error for sqrt
  /// scaling of tied queries and keys (the logits grow without bound), for biases of queries, keys
  /// or values (set projection_bias = false), for weights without a Gaussian limit, for dropout in
  /// training mode, and where queries, keys and values do not see one input.
  infinite::Kernel limit(const infinite::Kernel& k) const override;

  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  struct Projected {
    Tensor q, k, v;
  };
  Projected project(const Tensor& queries, const Tensor& keys, const Tensor& values) const;
  AttentionOptions options(const AttentionMasks& masks, const Tensor& keys) const;
  double logit_scale() const;
  AttentionResult attend(const Projected& heads, const AttentionOptions& options,
                         bool with_weights) const;
  Tensor combine(const Tensor& contexts) const;
};

/// torch's layout, for weights that travel: in_proj_weight [3·dim, dim] (q, k, v stacked,
/// head-major rows), in_proj_bias [3·dim], out_proj.weight [dim, dim], out_proj.bias [dim]. Throws
/// Error where the layer has no such form (different key width, tied, ntk, …) or a shape disagrees;
/// the layer then stays as it was.
StateDict to_torch(const MultiHeadAttention& layer);
void from_torch(MultiHeadAttention& layer, const StateDict& state);

}  // namespace ladon
