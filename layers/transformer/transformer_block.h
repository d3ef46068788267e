#pragma once
// Internal functions that the layers of encoder and decoder share; users include transformer.h.

#include <string>
#include <vector>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/branches.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon::detail {

MultiHeadAttentionOptions attention_options(const TransformerEncoderLayerOptions& o);
Owned<Layer> norm_of(const TransformerEncoderLayerOptions& o);
/// The final norm; null if the options have none.
Owned<Layer> final_norm_of(const TransformerEncoderOptions& o);

// Self-attention by `part`. A layer that has replaced MultiHeadAttention gets only the padding
// mask.
Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, const AttentionMask& mask);
Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, KeyValueCache& cache,
              const Tensor& mask);

/// Query and value weights of all self-attentions, by which a cache identifies its model.
template <class BlockLayer>
std::vector<Tensor> projections(const std::vector<BlockLayer>& layers) {
  std::vector<Tensor> weights;
  for (const BlockLayer& layer : layers)
    if (const MultiHeadAttention* attention = layer.attention.kind())
      weights.insert(weights.end(), {attention->query, attention->value});
  return weights;
}

/// Throws Error if a layer in the block mixes positions: with a cache it would see only the new
/// positions.
void check_cached(const FeedForward& f);

std::string describe_layer(const char* name, NormPlacement placement, const FeedForward& f);

// Steps of a layer's computation, overloaded for tensors and for the nodes of its limit.

/// x + branch(x).
template <class F>
Tensor plus(const char*, const Tensor& x, const F& branch) {
  return x + branch(x);
}
template <class F>
infinite::KernelNode plus(const char* name, const infinite::KernelNode& x, const F& branch) {
  return infinite::sum("TransformerEncoderLayer", x, {infinite::identity_branch(), {name, branch}});
}

/// a(x)·b(x), elementwise.
template <class A, class B>
Tensor times(const Tensor& x, const A& a, const B& b) {
  return a(x) * b(x);
}
template <class A, class B>
infinite::KernelNode times(const infinite::KernelNode& x, const A& a, const B& b) {
  return infinite::product("FeedForward", x, {{"gate", a}, {"expand", b}});
}

inline Tensor applied(Nonlinearity f, const Tensor& x) { return activate(f, x); }
inline infinite::KernelNode applied(Nonlinearity f, const infinite::KernelNode& x) {
  return Activation(f).limit(x);
}

/// Residual connection of x and a branch, with the norm at its placement.
template <class X, class F>
X residual(const char* name, NormPlacement placement, const Layer& norm, const Dropout& dropout,
           const X& x, const F& branch) {
  if (placement == NormPlacement::pre)
    return plus(name, x,
                [&norm, &dropout, &branch](const X& y) { return dropout(branch(norm(y))); });
  return norm(plus(name, x, [&dropout, &branch](const X& y) { return dropout(branch(y)); }));
}

/// Output of a part that is called with the padding mask; a limit takes no mask.
template <class P>
Tensor told(const P& part, const Tensor& x, const Tensor& mask) {
  return part(x, mask);
}
template <class P>
infinite::KernelNode told(const P& part, const infinite::KernelNode& x, const Tensor&) {
  return part(x);
}

template <class X>
X fed_forward(const FeedForward& f, const X& x, const Dropout& dropout, const Tensor& mask) {
  if (f.whole) return told(*f.whole, x, mask);
  const auto active = [&f, &mask](const Part<Linear>& map) {
    return [&f, &map, &mask](const X& y) { return applied(f.activation, told(map, y, mask)); };
  };
  const auto expanded = [&f, &mask](const X& y) { return told(f.expand, y, mask); };
  const X y = dropout(f.gate ? times(x, active(f.gate), expanded) : active(f.expand)(x));
  return told(f.contract, y, mask);
}

/// Output of the layers in sequence, each computed by `call`, and of the final norm. X: Tensor, or
/// KernelNode.
template <class X, class Stack, class Call>
X stacked(const Stack& layers, const Owned<Layer>& final_norm, const X& x, const Call& call) {
  LADON_CHECK(!layers.empty(), "Transformer", "has no layers: it was moved from");
  X y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) y = call(layers[i], y, i);
  return final_norm ? (*final_norm)(y) : y;
}

/// Output of stacked() with the attention weights of each layer; each layer gets x and `others`.
template <class Stack, class... Others>
TransformerEncoder::Details stack_with_weights(const Stack& layers, const Owned<Layer>& final_norm,
                                               const Tensor& x, const Others&... others) {
  TransformerEncoder::Details details;
  details.output = stacked(layers, final_norm, x,
                           [&details, &others...](const auto& layer, const Tensor& y, std::size_t) {
                             const AttentionResult result =
                                 layer.forward_with_weights(y, others...);
                             details.weights.push_back(result.weights);
                             return result.output;
                           });
  return details;
}

}  // namespace ladon::detail
