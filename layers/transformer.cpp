#include "ladon/layers/transformer.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/branches.h"

namespace ladon {
namespace {

using Options = TransformerEncoderLayerOptions;

LinearOptions linear_options(const Options& o, std::int64_t in, std::int64_t out) {
  LinearOptions options{
      .in = in, .out = out, .bias = o.bias, .parameterization = o.attention.prior.parameterization};
  if (options.parameterization == Parameterization::ntk) {
    options.weight_std = o.weight_std;
    options.bias_std = o.bias_std;
  }
  return options;
}

MultiHeadAttentionOptions attention_options(const Options& o) {
  const auto same = [](const char* what, std::int64_t given, std::int64_t layers) {
    LADON_CHECK(given == 0 || given == layers, "TransformerEncoderLayer", "its attention has ",
                what, " = ", given, ", the layer ", layers, "; give it to the layer alone");
  };
  MultiHeadAttentionOptions attention = o.attention;
  same("heads", attention.heads, o.heads);
  for (const auto& [what, width] : {std::pair("dim", attention.dim),
                                    {"key_dim", attention.key_dim},
                                    {"value_dim", attention.value_dim},
                                    {"out", attention.out}})
    same(what, width, o.dim);
  attention.dim = o.dim;
  attention.heads = o.heads;
  attention.bias = attention.bias && o.bias;
  return attention;
}

Owned<Layer> norm_of(const Options& o) {
  if (o.normalization == Normalization::rms) return RMSNorm({.dim = o.dim, .eps = o.norm_eps});
  return LayerNorm({.dim = o.dim, .eps = o.norm_eps});
}

Owned<Layer> final_norm_of(const TransformerEncoderOptions& o) {
  return o.final_norm.value_or(o.layer.norm == NormPlacement::pre) ? norm_of(o.layer)
                                                                   : Owned<Layer>();
}

// What a layer is, once for tensors and for the nodes of its limit: both can be added, multiplied and
// given to layers.

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

Tensor applied(Nonlinearity f, const Tensor& x) { return apply(f, x); }
infinite::KernelNode applied(Nonlinearity f, const infinite::KernelNode& x) {
  return Activation(f).limit(x);
}

/// x and what a branch makes of it, with the norm in its place.
template <class X, class F>
X residual(const char* name, NormPlacement placement, const Layer& norm, const Dropout& dropout,
           const X& x, const F& branch) {
  if (placement == NormPlacement::pre)
    return plus(name, x, [&](const X& y) { return dropout(branch(norm(y))); });
  return norm(plus(name, x, [&](const X& y) { return dropout(branch(y)); }));
}

/// What a part makes of x, told which positions are padding.
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
  const auto active = [&](const Part<Linear>& map) {
    return [&](const X& y) { return applied(f.activation, told(map, y, mask)); };
  };
  const auto expanded = [&](const X& y) { return told(f.expand, y, mask); };
  const X y = dropout(f.gate ? times(x, active(f.gate), expanded) : active(f.expand)(x));
  return told(f.contract, y, mask);
}

// Self-attention by what stands in its place: a layer that is not MultiHeadAttention hears of padding alone.

Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, const AttentionMask& mask) {
  if (const MultiHeadAttention* attention = part.kind()) return (*attention)(x, mask);
  LADON_CHECK(!mask.causal && !mask.allowed.defined() && !mask.bias.defined(), "forward",
              part.layer().describe(),
              " stands in the place of attention and is told of padding alone; what else restricts "
              "it, it must do by itself");
  return part(x, mask.key_mask);
}

Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, KeyValueCache& cache,
              const Tensor& mask) {
  if (const MultiHeadAttention* attention = part.kind()) return (*attention)(x, cache, mask);
  detail::fail(
      "forward", part.layer().describe(),
      " stands in the place of attention and knows no cache; generate by a NextToken that calls "
      "model(tokens, mask), with .cached = false");
}

/// Throws Error where what stands in the block mixes positions, of which a cache shows the new ones alone.
void check_cached(const FeedForward& f) {
  const auto check = [](const Layer& part) {
    LADON_CHECK(
        part.per_position(), "forward", part.describe(),
        " stands in a feed-forward block and mixes positions (per_position() says so): it knows "
        "no cache");
  };
  if (f.whole) return check(*f.whole);
  for (const Part<Linear>* part : {&f.expand, &f.gate, &f.contract})
    if (*part) check(part->layer());
}

template <class X, class Attend>
X encoded(const TransformerEncoderLayer& l, const X& x, const Tensor& mask, const Attend& attend) {
  const X y = residual("attention", l.placement, *l.attention_norm, l.dropout, x, attend);
  return residual("feedforward", l.placement, *l.feedforward_norm, l.dropout, y,
                  [&](const X& seen) { return fed_forward(l.feedforward, seen, l.dropout, mask); });
}

}  // namespace

// --- the feed-forward block ---

FeedForward::FeedForward(const Options& o, Generator& rng) : activation(o.activation) {
  const std::int64_t hidden = o.hidden > 0 ? o.hidden : checked_product("FeedForward", 4, o.dim);
  expand = Linear(linear_options(o, o.dim, hidden), rng);
  contract = Linear(linear_options(o, hidden, o.dim), rng);
  if (o.gated) gate = Linear(linear_options(o, o.dim, hidden), rng);
}

Tensor FeedForward::operator()(const Tensor& x, const Dropout& dropout, const Tensor& mask) const {
  return fed_forward(*this, x, dropout, mask);
}

void FeedForward::visit(Visitor& v) {
  if (whole) return v("feedforward", whole);
  v.place("feedforward", whole);
  v("expand", expand);
  v("gate", gate);
  v("contract", contract);
}

// --- encoder ---

TransformerEncoderLayer::TransformerEncoderLayer(const Options& o, Generator& rng)
    : attention(MultiHeadAttention(attention_options(o), rng)),
      attention_norm(norm_of(o)),
      feedforward_norm(norm_of(o)),
      feedforward(o, rng),
      dropout(o.dropout, rng),
      placement(o.norm) {}

Tensor TransformerEncoderLayer::forward(const Tensor& x, KeyValueCache& cache,
                                        const Tensor& mask) const {
  const NoGrad no_grad;
  check_cached(feedforward);
  return encoded(*this, x, mask,
                 [&](const Tensor& seen) { return attend(attention, seen, cache, mask); });
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const AttentionMask& mask) const {
  return encoded(*this, x, mask.key_mask,
                 [&](const Tensor& seen) { return attend(attention, seen, mask); });
}

infinite::KernelNode TransformerEncoderLayer::limit(const infinite::KernelNode& k) const {
  return encoded(*this, k, {}, [&](const infinite::KernelNode& seen) { return attention(seen); });
}

AttentionResult TransformerEncoderLayer::forward_with_weights(const Tensor& x,
                                                              const AttentionMask& mask) const {
  AttentionResult result;
  result.output = encoded(*this, x, mask.key_mask, [&](const Tensor& seen) {
    const auto details = attention->forward_with_weights(seen, seen, seen, mask);
    result.weights = details.weights;
    return details.output;
  });
  return result;
}

void TransformerEncoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("attention_norm", attention_norm);
  v("feedforward_norm", feedforward_norm);
  feedforward.visit(v);
  v("dropout", dropout);
}

namespace {

std::string describe_layer(const char* name, NormPlacement placement, const FeedForward& f) {
  const char* norm = placement == NormPlacement::pre ? "pre" : "post";
  if (f.whole) return detail::join(name, "(", norm, "-norm, ", f.whole->describe(), ")");
  const Linear* expand = f.expand.kind();
  return detail::join(
      name, "(", norm, "-norm, ", to_string(f.activation), f.gate ? " gate" : "", ", ",
      expand ? detail::join("hidden ", expand->weight.size(0)) : f.expand.layer().describe(), ")");
}

/// What `call` makes of one layer after the other, and the norm behind them; X as in encoded().
template <class X, class Stack, class Call>
X stacked(const Stack& layers, const Owned<Layer>& final_norm, const X& x, const Call& call) {
  X y = x;
  for (std::size_t i = 0; i < layers.size(); ++i) y = call(layers[i], y, i);
  return final_norm ? (*final_norm)(y) : y;
}

/// The same with the weights of each layer, which sees the same `others`.
template <class Stack, class... Others>
TransformerEncoder::Details stack_with_weights(const Stack& layers, const Owned<Layer>& final_norm,
                                               const Tensor& x, const Others&... others) {
  TransformerEncoder::Details details;
  details.output =
      stacked(layers, final_norm, x, [&](const auto& layer, const Tensor& y, std::size_t) {
        const AttentionResult result = layer.forward_with_weights(y, others...);
        details.weights.push_back(result.weights);
        return result.output;
      });
  return details;
}

}  // namespace

std::string TransformerEncoderLayer::describe() const {
  return describe_layer("TransformerEncoderLayer", placement, feedforward);
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng) {
  LADON_CHECK(options.layers > 0, "TransformerEncoder", "layers must be positive, got ",
              options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
  final_norm = final_norm_of(options);
}

Tensor TransformerEncoder::forward(const Tensor& x, const AttentionMask& mask) const {
  return stacked(layers, final_norm, x,
                 [&](const auto& layer, const Tensor& y, std::size_t) { return layer(y, mask); });
}

Tensor TransformerEncoder::forward(const Tensor& x, DecodingCache& cache,
                                   const Tensor& mask) const {
  const NoGrad no_grad;
  cache.prepare(layers.size());
  return stacked(layers, final_norm, x, [&](const auto& layer, const Tensor& y, std::size_t i) {
    return layer(y, cache.layers[i], mask);
  });
}

infinite::KernelNode TransformerEncoder::limit(const infinite::KernelNode& k) const {
  return stacked(layers, final_norm, k,
                 [](const auto& layer, const auto& y, std::size_t) { return layer(y); });
}

TransformerEncoder::Details TransformerEncoder::forward_with_weights(
    const Tensor& x, const AttentionMask& mask) const {
  return stack_with_weights(layers, final_norm, x, mask);
}

void TransformerEncoder::visit(Visitor& v) {
  v("layers", layers);
  v("final_norm", final_norm);
}

std::string TransformerEncoder::describe() const {
  return detail::join("TransformerEncoder(", layers.size(),
                      layers.size() == 1 ? " layer)" : " layers)");
}

// --- decoder ---

namespace {

Options causal_of(Options o) {
  o.attention.causal = true;
  return o;
}

/// What looks at a memory has no places of its own.
Options cross_of(Options o) {
  o.attention.causal = false;
  o.attention.window = 0;
  o.attention.hook = {};
  o.attention.positions = {};
  return o;
}

}  // namespace

TransformerDecoderLayer::TransformerDecoderLayer(const Options& o, Generator& rng)
    : attention(MultiHeadAttention(attention_options(causal_of(o)), rng)),
      cross_attention(attention_options(cross_of(o)), rng),
      attention_norm(norm_of(o)),
      cross_attention_norm(norm_of(o)),
      feedforward_norm(norm_of(o)),
      feedforward(o, rng),
      dropout(o.dropout, rng),
      placement(o.norm) {}

Tensor TransformerDecoderLayer::around(const Tensor& x, const Tensor& mask, const Attend& attend,
                                       const Attend& look) const {
  const Tensor y = residual("attention", placement, *attention_norm, dropout, x, attend);
  const Tensor z = residual("cross_attention", placement, *cross_attention_norm, dropout, y, look);
  return residual("feedforward", placement, *feedforward_norm, dropout, z,
                  [&](const Tensor& seen) { return feedforward(seen, dropout, mask); });
}

Tensor TransformerDecoderLayer::forward(const Tensor&) const {
  detail::fail("TransformerDecoderLayer", "attends to a memory; call it as layer(x, memory, mask)");
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, const Tensor& memory,
                                        const AttentionMask& mask,
                                        const AttentionMask& memory_mask) const {
  return around(
      x, mask.key_mask, [&](const Tensor& seen) { return attend(attention, seen, mask); },
      [&](const Tensor& seen) { return cross_attention(seen, memory, memory, memory_mask); });
}

AttentionResult TransformerDecoderLayer::forward_with_weights(
    const Tensor& x, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask) const {
  AttentionResult result;
  const Attend look = [&](const Tensor& seen) {
    const auto details = cross_attention.forward_with_weights(seen, memory, memory, memory_mask);
    result.weights = details.weights;
    return details.output;
  };
  result.output = around(
      x, mask.key_mask, [&](const Tensor& seen) { return attend(attention, seen, mask); }, look);
  return result;
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, const ProjectedMemory& memory,
                                        KeyValueCache& cache, const Tensor& mask,
                                        const AttentionMask& memory_mask) const {
  const NoGrad no_grad;
  check_cached(feedforward);
  return around(
      x, mask, [&](const Tensor& seen) { return attend(attention, seen, cache, mask); },
      [&](const Tensor& seen) { return cross_attention(seen, memory, memory_mask); });
}

void TransformerDecoderLayer::visit(Visitor& v) {
  v("attention", attention);
  v("cross_attention", cross_attention);
  v("attention_norm", attention_norm);
  v("cross_attention_norm", cross_attention_norm);
  v("feedforward_norm", feedforward_norm);
  feedforward.visit(v);
  v("dropout", dropout);
}

std::string TransformerDecoderLayer::describe() const {
  return describe_layer("TransformerDecoderLayer", placement, feedforward);
}

TransformerDecoder::TransformerDecoder(const TransformerEncoderOptions& options, Generator& rng)
    : final_norm(final_norm_of(options)) {
  LADON_CHECK(options.layers > 0, "TransformerDecoder", "layers must be positive, got ",
              options.layers);
  for (std::int64_t i = 0; i < options.layers; ++i) layers.emplace_back(options.layer, rng);
}

Tensor TransformerDecoder::forward(const Tensor&) const {
  detail::fail("TransformerDecoder", "attends to a memory; call it as decoder(x, memory, mask)");
}

Tensor TransformerDecoder::forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                   const AttentionMask& memory_mask) const {
  return stacked(layers, final_norm, x, [&](const auto& layer, const Tensor& y, std::size_t) {
    return layer(y, memory, mask, memory_mask);
  });
}

TransformerDecoder::Details TransformerDecoder::forward_with_weights(
    const Tensor& x, const Tensor& memory, const AttentionMask& mask,
    const AttentionMask& memory_mask) const {
  return stack_with_weights(layers, final_norm, x, memory, mask, memory_mask);
}

DecodingCache TransformerDecoder::remember(const Tensor& memory, const Tensor& mask) const {
  const NoGrad no_grad;
  DecodingCache cache;
  cache.memory_mask = mask;
  cache.prepare(layers.size());
  for (const TransformerDecoderLayer& layer : layers)
    cache.memory.push_back(layer.cross_attention.project_memory(memory, memory));
  return cache;
}

Tensor TransformerDecoder::forward(const Tensor& x, DecodingCache& cache,
                                   const Tensor& mask) const {
  const NoGrad no_grad;
  LADON_CHECK(cache.memory.size() == layers.size(), "TransformerDecoder",
              "the cache remembers the memory of ", cache.memory.size(), " layers, not of ",
              layers.size(), "; make it by remember(memory)");
  cache.prepare(layers.size());
  const AttentionMask memory_mask{.key_mask = cache.memory_mask};
  return stacked(layers, final_norm, x, [&](const auto& layer, const Tensor& y, std::size_t i) {
    return layer(y, cache.memory[i], cache.layers[i], mask, memory_mask);
  });
}

void TransformerDecoder::visit(Visitor& v) {
  v("layers", layers);
  v("final_norm", final_norm);
}

std::string TransformerDecoder::describe() const {
  return detail::join("TransformerDecoder(", layers.size(),
                      layers.size() == 1 ? " layer)" : " layers)");
}

// --- both ---

Transformer::Transformer(const TransformerOptions& o, Generator& rng)
    : encoder(
          [&] {
            TransformerEncoderOptions sees_all{o.layer, o.encoder_layers, o.final_norm};
            sees_all.layer.attention.causal = false;
            return sees_all;
          }(),
          rng),
      decoder(
          [&] {
            TransformerEncoderOptions own{o.layer, o.decoder_layers, o.final_norm};
            if (own.layer.attention.hook)
              detail::separate(*own.layer.attention.hook, 1);  // not the encoder's weights
            return own;
          }(),
          rng) {}

Tensor Transformer::forward(const Tensor&) const {
  detail::fail("Transformer", "needs targets; call it as model(sources, targets, source_mask)");
}

Tensor Transformer::forward(const Tensor& sources, const Tensor& targets,
                            const Tensor& source_mask) const {
  const AttentionMask mask{.key_mask = source_mask};
  return decoder(targets, encoder(sources, mask), AttentionMask{}, mask);
}

void Transformer::visit(Visitor& v) {
  v("encoder", encoder);
  v("decoder", decoder);
}

std::string Transformer::describe() const { return "Transformer"; }

}  // namespace ladon
