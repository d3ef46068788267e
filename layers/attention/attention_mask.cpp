#include "ladon/layers/attention/attention_mask.h"

#include <cmath>
#include <string>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

Tensor both(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? logical_and(a, b) : a.defined() ? a : b;
}

void check_allowed(const Tensor& mask) {
  LADON_CHECK(mask.defined() && mask.dtype() == boolean, "allowed", "the mask must be bool, got ",
              detail::kind_in_words(mask), "; add a floating mask as a bias: mask + bias");
}

void check_bias(const Tensor& bias) {
  LADON_CHECK(bias.defined() && is_floating(bias.dtype()), "attention mask",
              "the bias must be floating, got ", detail::kind_in_words(bias),
              "; combine a boolean mask by mask & allowed(mask)");
}

/// Checks the dtypes of a mask: its fields may be set directly, not only by causal() and the like.
void check_dtypes(const AttentionMask& mask) {
  LADON_CHECK(!mask.key_mask.defined() || mask.key_mask.dtype() == boolean, "attention mask",
              "the mask of keys must be bool [batch, keys], got ",
              detail::kind_in_words(mask.key_mask), "; cast(mask, boolean)");
  if (mask.allowed.defined()) check_allowed(mask.allowed);
  if (mask.bias.defined()) check_bias(mask.bias);
}

}  // namespace

Tensor AttentionMask::merged(std::int64_t batch, std::int64_t keys) const {
  check_dtypes(*this);
  Tensor may = allowed;
  if (key_mask.defined()) {
    const Shape expected{batch, keys};
    LADON_CHECK(key_mask.shape() == expected, "attention mask", "the mask of keys must be bool ",
                expected, ", got bool ", key_mask.shape());
    may = both(may, unsqueeze(unsqueeze(key_mask, 1), 1));  // [B, 1, 1, Tk]
  }
  if (!bias.defined()) return may;
  return may.defined() ? where(may, bias, scalar(-INFINITY, bias.dtype())) : bias;
}

AttentionMask causal() { return {.causal = true}; }

AttentionMask padding(const Tensor& mask) { return {.key_mask = mask}; }

AttentionMask allowed(const Tensor& mask) {
  check_allowed(mask);
  return {.allowed = mask};
}

AttentionMask operator&(const AttentionMask& a, const AttentionMask& b) {
  for (const AttentionMask* mask : {&a, &b}) check_dtypes(*mask);
  AttentionMask y{.key_mask = both(a.key_mask, b.key_mask),
                  .allowed = both(a.allowed, b.allowed),
                  .bias = a.bias.defined() ? a.bias : b.bias,
                  .causal = a.causal || b.causal};
  if (a.bias.defined() && b.bias.defined()) y.bias = a.bias + b.bias;
  return y;
}

AttentionMask operator+(const AttentionMask& mask, const Tensor& bias) {
  check_bias(bias);
  return mask & AttentionMask{.bias = bias};
}

}  // namespace ladon
