#include "ladon/layers/transformer/transformer_block.h"

#include "ladon/core/error.h"
#include "ladon/core/unread.h"

namespace ladon {
namespace {

/// Throws Error for a standard deviation that the parameterization does not read.
void check_read(const TransformerEncoderLayerOptions& o) {
  const auto check = [&o](const char* option, double value, double usual) {
    if (o.attention.prior.parameterization == Parameterization::standard)
      detail::check_unread("FeedForward", option, value, usual,
                           "only ntk parameterization has this factor; set "
                           "attention.prior.parameterization to Parameterization::ntk");
  };
  const TransformerEncoderLayerOptions usual{};
  check("weight_std", o.weight_std, usual.weight_std);
  check("bias_std", o.bias_std, usual.bias_std);
}

LinearOptions linear_options(const TransformerEncoderLayerOptions& o, std::int64_t in,
                             std::int64_t out) {
  return {.in = in,
          .out = out,
          .bias = o.bias,
          .parameterization = o.attention.prior.parameterization,
          .weight_std = o.weight_std,
          .bias_std = o.bias_std};
}

}  // namespace

namespace detail {

MultiHeadAttentionOptions attention_options(const TransformerEncoderLayerOptions& o) {
  const auto same = [](const char* what, std::int64_t given, std::int64_t layers) {
    LADON_CHECK(given == 0 || given == layers, "TransformerEncoderLayer", "its attention has ",
                what, " = ", given, ", but the layer has ", layers,
                "; leave it at 0 in the options of attention");
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

Owned<Layer> norm_of(const TransformerEncoderLayerOptions& o) {
  if (o.normalization == Normalization::rms) return RmsNorm({.dim = o.dim, .eps = o.norm_eps});
  return LayerNorm({.dim = o.dim, .eps = o.norm_eps});
}

Owned<Layer> final_norm_of(const TransformerEncoderOptions& o) {
  return o.final_norm.value_or(o.layer.norm_placement == NormPlacement::pre) ? norm_of(o.layer)
                                                                             : Owned<Layer>();
}

Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, const AttentionMask& mask) {
  if (const MultiHeadAttention* attention = part.kind()) return (*attention)(x, mask);
  LADON_CHECK(!mask.causal && !mask.allowed.defined() && !mask.bias.defined(), "forward",
              "got a causal, boolean or additive mask, but ", part.layer().describe(),
              " replaces attention and gets only the padding mask; let it apply the mask itself");
  return part(x, mask.key_mask);
}

Tensor attend(const Part<MultiHeadAttention>& part, const Tensor& x, KeyValueCache& cache,
              const Tensor& mask) {
  if (const MultiHeadAttention* attention = part.kind()) return (*attention)(x, cache, mask);
  fail("forward", part.layer().describe(),
       " replaces attention and cannot use a cache; generate with a NextToken that calls "
       "model(tokens, mask), and .cached = false");
}

void check_cached(const FeedForward& f) {
  const auto check = [](const Layer& part) {
    LADON_CHECK(
        part.per_position(), "forward", part.describe(),
        " in a feed-forward block mixes positions (its per_position() is false), so it cannot use "
        "a cache; generate with .cached = false");
  };
  if (f.whole) return check(*f.whole);
  for (const Part<Linear>* part : {&f.expand, &f.gate, &f.contract})
    if (*part) check(part->layer());
}

std::string describe_layer(const char* name, NormPlacement placement, const FeedForward& f) {
  const char* norm = placement == NormPlacement::pre ? "pre" : "post";
  if (f.whole) return join(name, "(", norm, "-norm, ", f.whole->describe(), ")");
  const Linear* expand = f.expand.kind();
  return join(name, "(", norm, "-norm, ", to_string(f.activation), f.gate ? " gate" : "", ", ",
              expand ? join("hidden ", expand->weight.size(0)) : f.expand.layer().describe(), ")");
}

}  // namespace detail

// --- the feed-forward block ---

FeedForward::FeedForward(const TransformerEncoderLayerOptions& o, Generator& rng)
    : activation(o.activation) {
  LADON_CHECK(o.hidden >= 0, "FeedForward", "hidden must not be negative, got ", o.hidden);
  check_read(o);
  const std::int64_t hidden =
      o.hidden > 0 ? o.hidden : detail::checked_product("FeedForward", 4, o.dim);
  expand = Linear(linear_options(o, o.dim, hidden), rng);
  contract = Linear(linear_options(o, hidden, o.dim), rng);
  if (o.gated) gate = Linear(linear_options(o, o.dim, hidden), rng);
}

Tensor FeedForward::operator()(const Tensor& x, const Dropout& dropout, const Tensor& mask) const {
  return detail::fed_forward(*this, x, dropout, mask);
}

void FeedForward::visit(Visitor& v) {
  if (whole) return v("feedforward", whole);
  v.place("feedforward", whole);
  v("expand", expand);
  v("gate", gate);
  v("contract", contract);
}

}  // namespace ladon
