// Attention with finitely many heads: all inputs share the bilinear forms B_h of the heads, so that
// input n, whose tokens have coordinates Φ_n (kernel/heads.h), has logits G_h(n) = QK·Φ_n·B_h·Φ_nᵀ,
// and the moments of limit.h are means over the heads, weighted by r_h (HeadLatents::scale).

#include <algorithm>

#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/attention/head_moments.h"

namespace ladon::infinite {
namespace {

/// Logits G of one side's tokens for several heads: Φ [P, T, R], forms [S, R, R] → [S, P, T, T].
Tensor logits_of(const AttentionLimit& layer, const Tensor& tokens, const Tensor& forms) {
  Shape each{forms.size(0)};  // [S, 1, R, R]
  for (int axis = 2; axis < tokens.rank(); ++axis) each.append(1);
  each.append(forms.size(1));
  each.append(forms.size(2));
  return matmul(matmul(tokens, reshape(layer.query_key * forms, each)),
                contiguous(transpose(tokens)));
}

}  // namespace

AttentionMoments head_moments(const AttentionLimit& layer, const Seen& seen, const Pairs& values) {
  const Pairs& both = seen.keys;
  const HeadLatents& latents = *layer.heads;
  const Tensor forms = latents.form();
  const Tensor scale = latents.scale() / static_cast<double>(latents.heads());
  const bool tangent = values.ntk.defined();
  LADON_CHECK(!tangent || (latents.logits.defined() && !latents.output.defined()),
              "MultiHeadAttention",
              "the tangent kernel of finitely many heads is known only for infinite key_width and "
              "value_width; set both to 0, or compute Get::nngp");
  AttentionMoments sum{zeros(both.nngp.shape(), f64),
                       tangent ? zeros(both.nngp.shape(), f64) : Tensor()};
  constexpr std::int64_t held = 1 << 20;  // elements of the kernels computed at once
  const std::int64_t own = std::max<std::int64_t>(1, sum.value.count());
  const std::int64_t at_once = std::max<std::int64_t>(1, held / own);
  for (std::int64_t begin = 0; begin < latents.heads(); begin += at_once) {
    const Slice range{.start = begin, .stop = begin + at_once};
    const Tensor some = slice(forms, 0, range);
    const AttentionMoments m =
        sum_over_heads(layer, seen, values, logits_of(layer, both.left_root.common, some),
                       logits_of(layer, both.right_root.common, some), slice(scale, 0, range));
    sum.value = sum.value + m.value;
    if (tangent) sum.tangent = sum.tangent + m.tangent;
  }
  return sum;
}

HeadMap head_map(const AttentionLimit& layer, const Tensor& tokens, const Tensor& mask) {
  return {tokens, mask, [layer](const Tensor& forms, const Tensor& seen, const Tensor& seen_mask) {
            return weights_of(layer, logits_of(layer, seen, forms), seen_mask);
          }};
}

}  // namespace ladon::infinite
