#pragma once
// Structured self-attention (Lin et al. 2017, "A structured self-attentive sentence embedding"):
// maps a sequence to a matrix, each row (hop) a weighted sum of its positions.

#include "ladon/layers/init.h"
#include "ladon/layers/layer.h"

namespace ladon {

struct StructuredAttentionOptions {
  std::int64_t dim;     ///< Width of the positions (2u in Lin et al.).
  std::int64_t hidden;  ///< Width of the inner map (d_a in Lin et al.).
  std::int64_t hops;    ///< Rows of the result (r in Lin et al.): this model's heads.
  Init init = Init::xavier_uniform;
};

/// M = A·H with A = softmax(W_s2·tanh(W_s1·Hᵀ)) over positions:  H [batch, T, dim] →
/// M [batch, hops, dim], which Flatten() makes one vector. Masked positions get weight 0; a
/// sequence without tokens gives zeros. The penalty ‖A·Aᵀ − I‖²_F of Lin et al., which keeps the
/// hops different, is frobenius_penalty (optim/extra/penalties/head_penalties.h):
///
///   const auto details = attention.forward_with_weights(h, tokens);
///   backward(loss + 1e-3 * frobenius_penalty(unsqueeze(details.weights, 2)));
///
/// It has no limit in closed form, because of softmax on random maps of tanh.
struct StructuredAttention : Layer {
  Tensor inner;  ///< W_s1 [hidden, dim]
  Tensor outer;  ///< W_s2 [hops, hidden]; hop h is row h.

  struct Details {
    Tensor output;   ///< M [batch, hops, dim]
    Tensor weights;  ///< A [batch, hops, T]
  };

  /// Throws Error if a size is not positive.
  StructuredAttention(const StructuredAttentionOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// mask: bool [batch, T] or undefined. Throws Error if shapes do not fit.
  Details forward_with_weights(const Tensor& x, const Tensor& mask = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
