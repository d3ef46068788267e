#pragma once
// Multi-head attention. Weights are stored head by head: those of head h in a projection are the
// contiguous slice [h], so that a head can serve as a particle of SVGD and similar methods
// (optim/particles).

#include <optional>

#include "ladon/autograd/ops/attention.h"
#include "ladon/layers/attention/attention_cache.h"
#include "ladon/layers/attention/attention_form.h"
#include "ladon/layers/attention/attention_hook.h"
#include "ladon/layers/attention/attention_mask.h"
#include "ladon/layers/attention/positional.h"
#include "ladon/layers/init.h"
#include "ladon/layers/layer.h"

namespace ladon {

/// Encodings of positions, added to (or concatenated with) the inputs of queries and keys.
struct AttentionPositions {
  /// Options of the encodings. Leave `in` at 0, which stands for `dim`, the width of the layer's
  /// inputs; any number other than these two throws Error.
  RandomPositionsOptions encoding;
  bool values = false;  ///< Whether the inputs of values get encodings too.
};

/// Prior of the weights: their distribution at initialization. Options that only the other
/// parameterization reads must have their defaults (Error otherwise).
struct AttentionPrior {
  /// In standard parameterization: initializer of each projection, as a matrix [heads·head_dim,
  /// dim].
  Init init = Init::xavier_uniform;
  Parameterization parameterization = Parameterization::standard;
  // In ntk parameterization, in which only the output has a bias:
  double query_key_std = 1;     ///< QK = σ_Q·σ_K, for the weights of queries and keys.
  double value_output_std = 1;  ///< OV = σ_O·σ_V, for the weights of output and values.
  double bias_std = 0;          ///< σ_b; 0 means no bias.
};

/// Monte Carlo draws for expectations in `limit` without a closed form (infinite/kernel/roots.h).
struct LimitDraws {
  /// Draws per estimate, at least 2; the limit is then a single estimate, without a standard error.
  /// 0 (default) means 256 draws per estimate; the limit is then the mean of several estimates, as
  /// many as small inputs need for an error of about 1% (infinite::Limit::replicates).
  std::int64_t samples = 0;
  /// Maximum rank of the Nyström factor of the tokens' kernel: the number of coordinates in which
  /// the draws that all inputs share are made. infinite::Limit::unexplained is the fraction of the
  /// variance that these coordinates leave out.
  std::int64_t coordinates = 128;
  std::uint64_t seed = 0;

  std::int64_t per_estimate() const { return samples == 0 ? 256 : samples; }
};

struct MultiHeadAttentionOptions {
  std::int64_t dim = 0;  ///< Width of the queries' input and of the output; required.
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;   ///< Width of a head; 0 means dim/heads (Error if not an integer).
  std::int64_t key_dim = 0;    ///< Width of the keys' input (cross-attention); 0 means dim.
  std::int64_t value_dim = 0;  ///< Width of the values' input; 0 means key_dim.
  bool bias = true;
  bool causal = false;
  double dropout = 0;  ///< Dropout probability of the attention weights, in training mode.

  /// Number of heads of keys and values, each shared by heads/kv_heads query heads (Ainslie et al.
  /// 2023; for kv_heads = 1 Shazeer 2019). 0 means `heads`. Error if kv_heads does not divide
  /// `heads`.
  std::int64_t kv_heads = 0;
  /// > 0: a query sees only the last `window` positions, including its own; needs causal attention.
  /// In one pass padding counts among these positions; with a cache it does not
  /// (KeyValueCache::next_positions()).
  std::int64_t window = 0;
  std::int64_t value_head_dim = 0;  ///< Width of a head's values; 0 means head_dim.
  std::int64_t out = 0;             ///< Width of the output; 0 means dim.
  AttentionForm form = {};
  bool projection_bias = true;  ///< Whether `bias` also adds biases to q, k and v.
  std::optional<AttentionPositions> positions = {};
  Owned<AttentionHook> hook = {};  ///< A variant of attention, such as RotaryPositions.
  AttentionPrior prior = {};
  LimitDraws limit_draws = {};
};

/// out = Σ_h ζ(G_h)·V_h·O_h + b, a sum over heads h, with G_h = Q_h·K_hᵀ/sqrt(head_dim), where
/// Q_h = x·W_hᵀ (K_h and V_h likewise), and ζ = softmax (Vaswani et al. 2017). A query that may
/// attend to no key gives the output bias.
///
/// A token with NaN or ∞ that is hidden from some queries does not affect their outputs. Nor does
/// it affect a gradient of other tokens or of the weights, if no output that depends on such a
/// token is read, in any example of the batch. Layers after attention do not get this mask: if the
/// output of such a token is not used, its gradient is 0, and 0·NaN makes the gradients of these
/// layers' weights NaN. To leave a token out of all layers, mask it as padding (a mask [batch, T]).
///
/// In ntk parameterization all weights are N(0, 1). With the width d of each input, and the options
/// QK = query_key_std, OV = value_output_std, σ_b = bias_std and p = ½ for sqrt and 1 for linear
/// scaling (form.scaling):
///   G_h = QK/(d·head_dim^p)·Q_h·K_hᵀ,
///   out = OV/sqrt(value_head_dim·heads·d)·Σ_h ζ(G_h)·V_h·O_h + σ_b·b
/// (Hron, Bahri, Sohl-Dickstein and Novak 2020, "Infinite attention").
struct MultiHeadAttention : Callable<MultiHeadAttention> {
  Tensor query;   ///< [heads, head_dim, dim]
  Tensor key;     ///< [kv_heads, head_dim, key_dim]; undefined when tied
  Tensor value;   ///< [kv_heads, value_head_dim, value_dim]
  Tensor output;  ///< [heads, value_head_dim, out]: head h adds context_h·output[h]
  Tensor query_bias, key_bias, value_bias;  ///< [heads or kv_heads, width]; undefined without bias
  Tensor output_bias;                       ///< [out]; undefined when bias = false
  std::optional<RandomPositions> positions;
  bool values_see_positions;
  Owned<AttentionHook> hook;  ///< Null if there is no hook.
  AttentionForm form;
  bool causal;
  std::int64_t window;
  double dropout;
  /// f64 scalars; undefined in standard parameterization.
  Tensor query_key_std, value_output_std, bias_std;
  Init init;  ///< Initializer of the projections.
  LimitDraws limit_draws;
  mutable Generator rng;

  /// Throws Error if heads do not divide dim and head_dim is not given, if tied queries and keys
  /// have inputs of different widths or different numbers of heads, for sizes or standard
  /// deviations out of range, and for options of the prior that nothing reads: those of the other
  /// parameterization, and bias_std without a bias.
  MultiHeadAttention(const MultiHeadAttentionOptions& options, Generator& rng);

  std::int64_t heads() const { return query.size(0); }
  std::int64_t kv_heads() const { return value.size(0); }
  std::int64_t head_dim() const { return query.size(1); }
  std::int64_t value_head_dim() const { return value.size(1); }
  Parameterization parameterization() const {
    return query_key_std.defined() ? Parameterization::ntk : Parameterization::standard;
  }

  /// Self-attention:  [batch, T, dim] → [batch, T, out], or [batch, H, W, dim] → [batch, H, W,
  /// out].
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  /// Self-attention to the positions where mask (bool [batch, T]) is true.
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// Cross-attention:  queries [batch, Tq, dim], keys [batch, Tk, key_dim], values [batch, Tk,
  /// value_dim] → [batch, Tq, out].
  Tensor forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionMask& mask = {}) const;

  /// Self-attention of new positions x [batch, T, dim] to themselves and to all positions in
  /// `cache`. The result equals that of one pass over all positions: up to rounding, and bitwise
  /// under RowwiseProducts with softmax weights. mask: bool [batch, T], false = padding. With
  /// padding before a token (on the left, or in between) the two may differ: a cache numbers only
  /// tokens, while one pass numbers all places, padding included, from 0 to T − 1; positional
  /// encodings, position biases and `window` depend on these numbers. To get equal results, remove
  /// padding before tokens first. Runs under NoGrad. Throws Error unless attention is causal, and
  /// if `positions` are added to the inputs.
  Tensor forward(const Tensor& x, KeyValueCache& cache, const Tensor& mask = {}) const;
  /// Cross-attention to a memory that is used many times: project_memory() computes its keys and
  /// values once, and forward() attends to them. `key_mask` is the key_mask of the AttentionMask
  /// that forward() gets. Throws Error with a hook or with `positions`.
  ProjectedMemory project_memory(const Tensor& keys, const Tensor& values,
                                 const Tensor& key_mask = {}) const;
  Tensor forward(const Tensor& queries, const ProjectedMemory& memory,
                 const AttentionMask& mask = {}) const;

  /// Output of forward(), with the attention weights [batch, heads, Tq, Tk] and the heads' contexts
  /// [batch, heads, Tq, value_head_dim] (before the output projection).
  struct Details {
    Tensor output, weights, contexts;
  };
  Details forward_with_weights(const Tensor& queries, const Tensor& keys, const Tensor& values,
                               const AttentionMask& mask = {}) const;

  /// Limit of self-attention as heads and kv_heads → ∞ in a fixed ratio. It does not depend on the
  /// ratio, since heads that share keys and values have separate output weights, so that their
  /// outputs are uncorrelated. (head_dim, value_head_dim and the input width → ∞ too.) With linear
  /// scaling one wide head has the same limit; with sqrt scaling a network of few heads is far from
  /// the limit. infinite/attention/limit.h has the formula of each form. In standard
  /// parameterization the NTK is the leading order in the widths, as for Linear. Throws Error where
  /// no limit is known: for sqrt scaling of tied queries and keys (their logits grow without
  /// bound), for weights without a Gaussian limit, for dropout in training mode, for a window with
  /// sqrt scaling unless the weighting is softmax, if queries, keys and values see different
  /// inputs, and for a hook without a limit.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  /// Limit of cross-attention, from the kernels of the queries' inputs and of the inputs of keys
  /// and values, for the same examples: [N1, N2, Tq, Tq] and [N1, N2, Tk, Tk] → [N1, N2, Tq, Tq].
  /// It is computed by differentiable operations, and so slower than that of self-attention. Also
  /// throws Error for tied queries and keys, positional encodings, hooks, finitely many heads, and
  /// causal attention.
  infinite::KernelNode limit(const infinite::KernelNode& queries,
                             const infinite::KernelNode& keys) const;

  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  AttentionHeads project(const Tensor& queries, const Tensor& keys, const Tensor& values,
                         bool hides) const;
  Tensor projected(const Tensor& x, const Tensor& weight, const Tensor& bias, bool hides) const;
  bool hides(const AttentionMask& mask) const;
  AttentionHeads changed(AttentionHeads h) const;
  AttentionMask windowed(const AttentionMask& mask, std::int64_t queries, std::int64_t keys) const;
  AttentionOptions options(const AttentionMask& mask, const AttentionHeads& h,
                           std::int64_t offset) const;
  double logit_scale() const;
  AttentionHeads with_scale(const AttentionHeads& h) const;
  AttentionResult attend(const AttentionHeads& heads, const AttentionMask& mask, bool with_weights,
                         std::int64_t offset = 0) const;
  AttentionResult weigh(const AttentionHeads& h, const AttentionOptions& options,
                        const Tensor& bias) const;
  Tensor combine(const Tensor& contexts, bool hides) const;
};

}  // namespace ladon
