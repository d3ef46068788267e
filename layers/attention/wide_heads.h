#pragma once
// Attention with infinitely wide heads, each of which is described by finitely many weights.
//
// As the widths of the queries, keys and values of head h go to infinity at sqrt scaling, the head
// depends only on a matrix B_h [d, d] for its logits and a matrix v_h [d, out] for its output. For
// H heads and an input X_n [T, d],
//   out(n) = OV/sqrt(d·H)·Σ_h ζ(QK/d·X_n·B_h·X_nᵀ)·X_n·v_h,   B_h, v_h ~ N(0, 1) before training.
// With random B_h and v_h, this has the distribution of MultiHeadAttention in ntk parameterization
// with infinitely wide heads (Sakai, Karakida and Imaizumi 2025, arXiv 2506.00846). With the v_h
// integrated out it is a Gaussian process given the B_h (infinite/finite/heads.h), so that the
// exact posterior of this layer is known (optim/posterior/latent_posterior.h) and can be compared
// with samplers and training.

#include <cstdint>

#include "ladon/layers/attention/attention_form.h"
#include "ladon/layers/layer.h"

namespace ladon {

struct WideHeadsOptions {
  std::int64_t dim;        ///< d
  std::int64_t heads = 1;  ///< H
  std::int64_t out = 1;
  Weighting weighting = Weighting::softmax;  ///< ζ
  double query_key_std = 1;                  ///< QK
  double value_output_std = 1;               ///< OV
};

/// WideHeads of P layers at once: x [N, T, d], B [P, H, d, d], v [P, H, d, out] → [P, N, T, out].
/// Differentiable with respect to x, B and v. `mask` as in WideHeads::forward_masked. Throws Error
/// for other shapes.
Tensor wide_heads(const Tensor& x, const Tensor& query_key, const Tensor& value_output,
                  const WideHeadsOptions& options, const Tensor& mask = {});

/// Self-attention with H wide heads:  [N, T, d] → [N, T, out].
struct WideHeads : Layer {
  Tensor query_key;     ///< B [H, d, d]
  Tensor value_output;  ///< v [H, d, out]
  WideHeadsOptions options;

  /// Draws N(0, 1) weights, f32. Throws Error if a size is not positive, or a standard deviation is
  /// negative or not finite.
  WideHeads(const WideHeadsOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  /// mask: bool [N, T], true = token; no query attends to padding.
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
