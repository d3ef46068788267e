#pragma once
// Attention in tiles that stay in cache: logits, softmax and weighting of a tile are done before
// the next one is touched, and backward recomputes them (Dao et al. 2022; Rabe and Staats 2021). No
// second derivatives: see autograd/ops/attention.h.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

struct AttentionSettings {
  Tensor mask = {};  ///< Boolean, true = may attend; or of q's dtype, added. Broadcasts to [.., H,
                     ///< Tq, Tk].
  bool causal = false;
  std::int64_t causal_offset = 0;  ///< Query i sees keys ≤ i + offset.
  double scale = 1;                ///< Factor of the logits.
  double softcap = 0;              ///< c > 0: logits become c·tanh(logits/c).
};

/// q [.., H, Tq, d], k [.., Hkv, Tk, d], v [.., Hkv, Tk, dv], of one floating dtype, with any
/// strides; leading axes broadcast; H is a multiple of Hkv. output [.., H, Tq, dv], a view of
/// [.., Tq, H, dv] if q is such a view. log_sum [.., H, Tq]: log₂ Σ exp(logits) per row, +∞ where a
/// row sees no key (there output is 0); undefined where q and the output have no elements.
struct AttentionOutput {
  Tensor output, log_sum;
};
AttentionOutput attention(const Tensor& q, const Tensor& k, const Tensor& v,
                          const AttentionSettings& settings);

/// Gradients of ⟨g, output⟩, with the inputs' shapes but all leading axes broadcast, each laid out
/// like its input.
struct AttentionGradients {
  Tensor q, k, v;
};
AttentionGradients attention_backward(const Tensor& g, const Tensor& q, const Tensor& k,
                                      const Tensor& v, const AttentionOutput& forward,
                                      const AttentionSettings& settings);

}  // namespace ladon::kernels
