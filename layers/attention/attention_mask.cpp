#include "ladon/layers/attention/attention_mask.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

Tensor both(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? logical_and(a, b) : a.defined() ? a : b;
}

}  // namespace

Tensor AttentionMask::merged(std::int64_t batch, std::int64_t keys) const {
  Tensor may = allowed;
  if (key_mask.defined()) {
    const Shape expected{batch, keys};
    LADON_CHECK(key_mask.dtype() == boolean && key_mask.shape() == expected, "attention",
                "the mask of keys must be bool ", expected, ", got ", key_mask.dtype(), " ",
                key_mask.shape(), key_mask.dtype() == boolean ? "" : "; cast(mask, boolean)");
    may = both(may, unsqueeze(unsqueeze(key_mask, 1), 1));  // [B, 1, 1, Tk]
  }
  if (!bias.defined()) return may;
  return may.defined() ? where(may, bias, scalar(-INFINITY, bias.dtype())) : bias;
}

AttentionMask causal() { return {.causal = true}; }

AttentionMask padding(const Tensor& mask) { return {.key_mask = mask}; }

AttentionMask allowed(const Tensor& mask) {
  LADON_CHECK(mask.defined() && mask.dtype() == boolean, "allowed", "the mask must be bool, got ",
              mask.defined() ? to_string(mask.dtype()) : "an undefined tensor",
              "; add a floating mask as a bias: mask + bias");
  return {.allowed = mask};
}

AttentionMask operator&(const AttentionMask& a, const AttentionMask& b) {
  AttentionMask y{.key_mask = both(a.key_mask, b.key_mask),
                  .allowed = both(a.allowed, b.allowed),
                  .bias = a.bias.defined() ? a.bias : b.bias,
                  .causal = a.causal || b.causal};
  if (a.bias.defined() && b.bias.defined()) y.bias = a.bias + b.bias;
  return y;
}

AttentionMask operator+(const AttentionMask& mask, const Tensor& bias) {
  LADON_CHECK(bias.defined() && is_floating(bias.dtype()), "attention mask",
              "the bias must be floating, got ",
              bias.defined() ? to_string(bias.dtype()) : "an undefined tensor",
              "; combine a boolean mask by mask & allowed(…)");
  return mask & AttentionMask{.bias = bias};
}

}  // namespace ladon
