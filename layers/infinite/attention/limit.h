#pragma once
// Self-attention with infinitely many heads (Hron, Bahri, Sohl-Dickstein and Novak 2020, "Infinite
// attention: NNGP and NTK for deep attention networks"; the NTK for nonlinear ζ and sqrt scaling
// was derived for Ladon, below).
//
// For a pair of inputs (n, m) let k and t be the NNGP kernel and NTK [T, T] of the inputs of
// queries and keys (with positional encodings), and v and u those of the inputs of values. Indices
// a and b are positions of queries, c, e, i and j positions of keys; in cross-attention queries and
// keys have different positions. QK = σ_Q·σ_K and OV = σ_O·σ_V are products of the weights'
// standard deviations, σ_b is that of the output bias b, ζ turns logits into weights, G_h are the
// logits of head h,
//   out = OV/sqrt(..)·Σ_h ζ(G_h)·V_h·O_h + σ_b·b.
// The heads are independent and their number goes to infinity, so the kernels are expectations over
// the logits G of one head; the mean over V_h leaves v_ij. With ζ = ζ(G(n)), ζ' = ζ(G(m)), and one
// term of the NTK per group of trained weights Q, K, V and O,
//   S_ab    = OV²·Σ_ij v_ij·E[ζ_ai·ζ'_bj]
//   NNGP_ab = S_ab + σ_b²
//   NTK_ab  = S_ab (from O) + S_ab (from V) + OV²·Σ_ij u_ij·E[ζ_ai·ζ'_bj] + σ_b²
//           + OV²·Σ_ij v_ij·Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·D_ab,ce
//   D_ab,ce = ⟨∂G_ac(n), ∂G_be(m)⟩ = QK²·(2·k_ab·k_ce (from Q and K) + t_ab·k_ce + k_ab·t_ce).
//
// Biases of queries, keys and values are initially 0, so the NNGP kernel does not contain them. A
// bias acts as the weight of an input that is always 1, so it adds a constant to the tangent kernel
// of its projection's input: t_ab + 1/σ_Q² for queries, t_ce + 1/σ_K² for keys (without effect on
// softmax, which is invariant to a common shift of the logits), and u_ij + 1/σ_V² for values.
//
// - linear scaling: G → its mean, QK·k(n, n) for tied queries and keys and 0 otherwise, and D → 0.
//   With A_n = ζ(G(n)): S = OV²·A_n·v·A_mᵀ, NTK = OV²·A_n·(u + 2v)·A_mᵀ + σ_b². For untied queries
//   and keys, softmax averages over the visible keys, and the other ζ are 0: only σ_b² is left.
// - sqrt scaling: G is Gaussian, Cov(G_ai(n), G_bj(m)) = QK²·k_ab·k_ij. The expectations have
//   closed forms for ζ = identity, in O(T²) per pair, for relu and abs, in O(T²) to O(T⁴)
//   (key_sums.h), and for softmax if T ≤ 2. For softmax and T > 2 they are averages over draws that
//   all inputs share, in O(T²·R) to O(T³) per pair (kernel/roots.h, pair_sums.cpp).
//
// At keys that a query may not attend to, ζ is 0 for any G (for softmax, their logits are −∞).

#include <cstdint>
#include <functional>
#include <memory>

#include "ladon/core/random.h"
#include "ladon/layers/attention/attention_form.h"
#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon::infinite {

/// Description of an attention layer for its limit.
struct AttentionLimit {
  AttentionForm form;
  bool causal;
  std::int64_t window = 0;  ///< > 0: a query sees only the last `window` keys up to its position.
  Tensor query_key, value_output;  ///< QK and OV, rank 0
  Tensor bias_variance;            ///< σ_b², rank 0
  // Factors of the NTK's terms from Q and K, and of its terms from V and O. Each factor is a sum
  // over the two weights. In ntk parameterization each weight adds 1. In standard parameterization
  // the gradient is with respect to W = σ/sqrt(fan_in)·w instead of w, and each weight adds
  // fan_in/σ² = 1/Var W.
  double query_key_trained, value_output_trained;
  Tensor bias_trained;  ///< Contribution of the output bias to the NTK, rank 0.
  // Constants that trained biases of queries, keys and values, initially 0, add to the tangent
  // kernels of their projections' inputs: 1/σ² of the same projection's weights; 0 without a bias.
  double query_bias_trained = 0, key_bias_trained = 0, value_bias_trained = 0;
  /// Latents of finitely many heads; null for infinitely many.
  std::shared_ptr<const HeadLatents> heads = {};
  std::int64_t samples;          ///< Number of draws of random logits.
  Generator rng = Generator(0);  ///< Generator of the draws, different per layer and replicate.
};

/// Kernels of the inputs of queries and of keys, for each pair of network inputs: the same [P, T,
/// T] in self-attention, otherwise [P, Tq, Tq] and [P, Tk, Tk].
struct Seen {
  Seen(const Pairs& both) : queries(both), keys(both) {}  // NOLINT: implicit
  Seen(const Pairs& of_queries, const Pairs& of_keys) : queries(of_queries), keys(of_keys) {}
  Seen(const Pairs&&) = delete;  // it keeps references
  Seen(const Pairs&&, const Pairs&) = delete;
  Seen(const Pairs&, const Pairs&&) = delete;
  Seen(const Pairs&&, const Pairs&&) = delete;
  bool self() const { return &queries == &keys; }

  const Pairs &queries, &keys;
};

/// Function from the kernels of the inputs of queries, keys and values to the kernels of the
/// outputs: attention_kernels, or the map that a variant of attention defines
/// (AttentionHook::limit). A variant can build its map from weights_of and given_weights, which
/// handle masks, causality and the window.
using AttentionMap =
    std::function<PairKernels(const AttentionLimit& layer, const Pairs& seen, const Pairs& values)>;
/// Returns attention_kernels if the layer's form has a known limit; otherwise throws Error.
AttentionMap attention_map(const AttentionLimit& layer);
/// Kernels of the outputs, where `seen` are the kernels of the inputs of queries and keys, and
/// `values` those of the inputs of values ([P, Tk, Tk]). Masks are taken from the keys. The NTK is
/// undefined if `values` has none. Throws Error for a form without a known limit.
PairKernels attention_kernels(const AttentionLimit& layer, const Seen& seen, const Pairs& values);

// --- for user-defined limits (AttentionHook::limit) ---

/// 1 where query a may attend to key i (by the mask of the keys, causality and the window), else 0:
/// f64 [P, Tq, Tk] for a mask [P, Tk], or [Tq, Tk] without one.
Tensor visible(const AttentionLimit& layer, const Tensor& mask, std::int64_t queries,
               std::int64_t keys);
/// Attention weights ζ(logits) at visible keys, 0 elsewhere. Logits are [.., P, Tq, Tk], or
/// broadcast to that.
Tensor weights_of(const AttentionLimit& layer, const Tensor& logits, const Tensor& mask);
/// The kernels of attention with weights that are not random: A for x and A' for x', [P, Tq, Tk] or
/// [Tq, Tk], and kernels v and u (NNGP and NTK) of the values:
///   NNGP = S + σ_b²,  NTK = OV²·A·u·A'ᵀ + 2·S + σ_b²,  S = OV²·A·v·A'ᵀ   (in ntk parameterization)
PairKernels given_weights(const AttentionLimit& layer, const Tensor& left, const Tensor& right,
                          const Pairs& values);

/// Whether attention_kernels averages over draws. It does for softmax with sqrt scaling if there
/// are more than 2 keys, or if their number is unknown (−1). `seen` must then hold the coordinates
/// of the tokens (Root).
bool draws(const AttentionForm& form, std::int64_t keys);

// --- expectations for sqrt scaling; one file per function ζ ---

/// The expectations that the kernels of attention need, over the Gaussian logits G and G′ of two
/// inputs, in the notation at the top of this file (v and u: NNGP kernel and NTK of the values; D:
/// kernel of the logits' gradients): value = Σ_ij v_ij·E[ζ_ai·ζ'_bj], and, if there is an NTK,
/// tangent = Σ_ij u_ij·E[ζ_ai·ζ'_bj] + Σ_ij v_ij·Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·D_ab,ce.
struct AttentionMoments {
  Tensor value, tangent;
};
AttentionMoments identity_moments(const AttentionLimit& layer, const Seen& seen,
                                  const Pairs& values);
AttentionMoments rectified_moments(const AttentionLimit& layer, const Seen& seen,
                                   const Pairs& values);
AttentionMoments softmax_moments(const AttentionLimit& layer, const Seen& seen,
                                 const Pairs& values);

/// Moments of the finitely many heads in layer.heads; `seen` holds the tokens' coordinates.
AttentionMoments head_moments(const AttentionLimit& layer, const Seen& seen, const Pairs& values);
/// Attention weights of heads for inputs whose tokens have coordinates Φ [N, T, R] and mask [N, T].
HeadMap head_map(const AttentionLimit& layer, const Tensor& tokens, const Tensor& mask);

}  // namespace ladon::infinite
