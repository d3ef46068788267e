#pragma once
// Self-attention with infinitely many heads (Hron, Bahri, Sohl-Dickstein and Novak 2020, "Infinite
// attention: NNGP and NTK for deep attention networks"; the NTK with nonlinear ζ and sqrt scaling
// is ours, below).
//
// For a pair of inputs (n, m) let k, t be the kernels [T, T] of what queries and keys see (with
// positional encodings; of queries where indices are a and b, of keys where they are c, e, i or j:
// in cross-attention these are two), v, u those of what values see, and G the logits of one head,
//   out = OV/sqrt(..)·Σ_h ζ(G_h)·V_h·O_h + σ_b·b.
// The heads are independent and their number goes to infinity, so the kernels are expectations over
// one head's logits; the mean over V_h leaves v_ij. With ζ = ζ(G(n)), ζ' = ζ(G(m)), and Q, K, V, O
// the trained weights' groups, one term of the NTK each,
//   S_ab    = OV²·Σ_ij v_ij·E[ζ_ai·ζ'_bj]
//   NNGP_ab = S_ab + σ_b²
//   NTK_ab  = S_ab (from O) + S_ab (from V) + OV²·Σ_ij u_ij·E[ζ_ai·ζ'_bj] + σ_b²
//           + OV²·Σ_ij v_ij·Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·D_ab,ce
//   D_ab,ce = ⟨∂G_ac(n), ∂G_be(m)⟩ = QK²·(2·k_ab·k_ce (from Q and K) + t_ab·k_ce + k_ab·t_ce).
//
// Biases of queries, keys and values are 0 before training: the NNGP kernel has nothing of them.
// Moving them is as moving a weight of an input that is always 1, so they add a constant to the
// tangent kernel of what their projection sees: t_ab + 1/σ_Q² for queries, t_ce + 1/σ_K² for keys
// (which softmax, whose logits may all be moved alike, does not notice), and u_ij + 1/σ_V² for
// values.
//
// - linear scaling: G → its mean, QK·k(n, n) where queries and keys are tied and 0 where they are
//   not, and D → 0. With A_n = ζ(G(n)): S = OV²·A_n·v·A_mᵀ, NTK = OV²·A_n·(u + 2v)·A_mᵀ + σ_b².
//   Untied, softmax averages over the visible keys, and the other ζ leave the bias alone.
// - sqrt scaling: G is Gaussian, Cov(G_ai(n), G_bj(m)) = QK²·k_ab·k_ij. identity: closed, O(T²) per
//   pair. relu, abs: closed, O(T²) to O(T⁴) (key_sums.h). softmax: T = 2 closed, otherwise averaged
//   over draws, which all inputs share: O(T²·R) to O(T³) per pair (kernel/roots.h, pair_sums.cpp).
//
// At keys that a query may not attend to, ζ is 0 (softmax: its logit is −∞), whatever G.

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
  std::int64_t window = 0;  ///< > 0: a query sees the last `window` keys up to its own alone.
  Tensor query_key, value_output;  ///< QK and OV, rank 0
  Tensor bias_variance;            ///< σ_b², rank 0
  // The factors of what each group of weights adds to the NTK: 1 per tensor in ntk
  // parameterization. In standard parameterization the gradient is taken by W = σ/sqrt(fan_in)·w
  // instead of w, which multiplies the group's part by fan_in/σ² = 1/Var W.
  double query_key_trained, value_output_trained;
  Tensor bias_trained;  ///< The NTK of the output bias, rank 0.
  // Additions of trained biases of queries, keys and values, 0 before training, to the tangent
  // kernels of what they are added to: 1/σ² of the group's weights; 0 without.
  double query_bias_trained = 0, key_bias_trained = 0, value_bias_trained = 0;
  std::shared_ptr<const HeadLatents> heads = {};  ///< Finitely many, given; null: infinitely many.
  std::int64_t samples;          ///< Draws of the logits, where they are drawn, …
  Generator rng = Generator(0);  ///< … from this generator, another for each layer and replicate.
};

/// Kernels that queries and keys see of each pair: in self-attention one, otherwise kernels [P, Tq,
/// Tq] and [P, Tk, Tk].
struct Seen {
  Seen(const Pairs& both) : queries(both), keys(both) {}  // NOLINT: implicit
  Seen(const Pairs& of_queries, const Pairs& of_keys) : queries(of_queries), keys(of_keys) {}
  bool self() const { return &queries == &keys; }

  const Pairs &queries, &keys;
};

/// The kernels of attention, of what its queries and keys see and of what its values see:
/// attention_kernels, or a variant's own (AttentionHook::limit), made of weights_of and
/// given_weights, which see to masks, causality and the window.
using AttentionMap =
    std::function<PairKernels(const AttentionLimit& layer, const Pairs& seen, const Pairs& values)>;
/// attention_kernels, of a layer that is known to have a limit. Throws Error for any other.
AttentionMap attention_map(const AttentionLimit& layer);
/// The kernels of the outputs for pairs whose queries and keys see `seen` and values `values`
/// ([P, Tk, Tk]; masks are the keys'). ntk is undefined where `values` has none. Throws Error for a
/// form that is not known to have a limit.
PairKernels attention_kernels(const AttentionLimit& layer, const Seen& seen, const Pairs& values);

// --- for limits of one's own (AttentionHook::limit) ---

/// 1 where query a may attend to key i (by the mask of the keys, causality and the window), else 0:
/// f64 [P, Tq, Tk] from the mask [P, Tk], or [Tq, Tk] where it is undefined.
Tensor visible(const AttentionLimit& layer, const Tensor& mask, std::int64_t queries,
               std::int64_t keys);
/// ζ of logits [.., P, Tq, Tk], or broadcast to them, over what is visible; 0 elsewhere.
Tensor weights_of(const AttentionLimit& layer, const Tensor& logits, const Tensor& mask);
/// The kernels of attention whose weights are not random: A of x and A' of x', [P, Tq, Tk] or [Tq,
/// Tk].
///   NNGP = S + σ_b²,  NTK = OV²·A·u·A'ᵀ + 2·S + σ_b²,  S = OV²·A·v·A'ᵀ   (in ntk parameterization)
PairKernels given_weights(const AttentionLimit& layer, const Tensor& left, const Tensor& right,
                          const Pairs& values);

/// Whether attention_kernels draws: sqrt scaling with softmax over more than 2 keys, or over a
/// number of them that is not known yet (−1). `seen` then holds
/// the roots of what queries and keys see (Draws).
bool draws(const AttentionForm& form, std::int64_t keys);

// --- the forms of sqrt scaling, each in its own file ---

/// Moments of a form:  value = Σ_ij v_ij·E[ζ_ai·ζ'_bj], and, where there is an NTK,
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

/// Moments of the finitely many heads in layer.heads; `seen` holds the roots of their tokens.
AttentionMoments head_moments(const AttentionLimit& layer, const Seen& seen, const Pairs& values);
/// Attention of heads in inputs whose tokens have the coordinates Φ [N, T, R] and the mask [N, T].
HeadMap head_map(const AttentionLimit& layer, const Tensor& tokens, const Tensor& mask);

}  // namespace ladon::infinite
