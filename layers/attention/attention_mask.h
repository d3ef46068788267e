#pragma once
// Masks of attention: which keys a query may attend to, and what is added to its logits.
//
//   attention(x, (causal() & padding(mask)) + bias)

#include "ladon/core/tensor.h"

namespace ladon {

/// Mask of attention. A query attends to a key if all defined parts allow it; an undefined part
/// allows everything.
struct AttentionMask {
  Tensor key_mask = {};  ///< bool [batch, Tk]: which keys are tokens (false = padding).
  Tensor allowed = {};   ///< bool, broadcast to [batch, heads, Tq, Tk]: true = may attend.
  Tensor bias = {};      ///< Floating, broadcast like `allowed`; added to logits, −∞ forbids.
  bool causal = false;   ///< A query attends to no later key.

  /// Combines allowed, key_mask and bias: bool, or floating if there is a bias; undefined if all
  /// three are undefined. Throws Error unless key_mask is bool [batch, keys], allowed bool and bias
  /// floating.
  Tensor merged(std::int64_t batch, std::int64_t keys) const;
};

/// Mask by which no query attends to a later key.
AttentionMask causal();
/// Mask by which no query attends to padding. mask: bool [batch, Tk], true = token.
AttentionMask padding(const Tensor& mask);
/// Mask from a bool tensor, broadcast to [batch, heads, Tq, Tk]: true = may attend. Throws Error
/// for another dtype.
AttentionMask allowed(const Tensor& mask);

/// Mask that allows what both masks allow; their biases are added. Throws Error if a part does not
/// have the dtype listed in AttentionMask.
AttentionMask operator&(const AttentionMask& a, const AttentionMask& b);
/// Mask with `bias` added to the logits: floating, broadcast to [batch, heads, Tq, Tk]. Throws
/// Error for another dtype.
AttentionMask operator+(const AttentionMask& mask, const Tensor& bias);

}  // namespace ladon
