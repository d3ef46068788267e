#include "ladon/layers/extra/sequence/language_model.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/layers/masked.h"

namespace ladon {

LanguageModelOptions gpt2(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                          std::int64_t heads, std::int64_t max_length) {
  return {.vocabulary = vocabulary,
          .layers = layers,
          .layer = {.dim = dim, .heads = heads, .activation = Nonlinearity::gelu_tanh},
          .max_length = max_length};
}

LanguageModelOptions llama(std::int64_t vocabulary, std::int64_t layers, std::int64_t dim,
                           std::int64_t heads, std::int64_t kv_heads, std::int64_t hidden,
                           double rope_base, double norm_eps) {
  return {.vocabulary = vocabulary,
          .layers = layers,
          .layer = {.dim = dim,
                    .heads = heads,
                    .hidden = hidden,
                    .dropout = 0,
                    .activation = Nonlinearity::silu,
                    .attention = {.kv_heads = kv_heads,
                                  .projection_bias = false,
                                  .hook = RotaryPositions({.base = rope_base})},
                    .normalization = Normalization::rms,
                    .norm_eps = norm_eps,
                    .gated = true,
                    .bias = false},
          .tied = false};
}

LanguageModel::LanguageModel(LanguageModelOptions o, Generator& rng)
    : embedding({.count = o.vocabulary, .dim = o.layer.dim, .stddev = o.init_std}, rng),
      dropout(o.layer.dropout, rng),
      body(
          [&] {
            o.layer.attention.causal = true;
            return TransformerEncoderOptions{o.layer, o.layers};
          }(),
          rng) {
  LADON_CHECK(o.max_length >= 0, "LanguageModel", "max_length must not be negative, got ",
              o.max_length);
  if (o.max_length > 0)
    positions.emplace(LearnedPositionsOptions{o.max_length, o.layer.dim, o.init_std}, rng);
  if (!o.tied)
    head = Linear({.in = o.layer.dim,
                   .out = o.vocabulary,
                   .bias = false,
                   .init = Init::normal,
                   .gain = o.init_std},
                  rng);
}

Tensor LanguageModel::logits(const Tensor& y) const {
  return head ? head(y) : linear(y, embedding.weight);
}

Tensor LanguageModel::forward_masked(const Tensor& tokens, const Tensor& mask) const {
  const Tensor x = embedding(tokens);
  return logits(body(dropout(positions ? (*positions)(x) : x), AttentionMask{.key_mask = mask}));
}

Tensor LanguageModel::forward(const Tensor& tokens, DecodingCache& cache,
                              const Tensor& mask) const {
  const NoGrad no_grad;
  const detail::Undo undo(cache);
  return logits(features(tokens, cache, mask));
}

/// Features [batch, T, dim], from which logits are computed.
Tensor LanguageModel::features(const Tensor& tokens, DecodingCache& cache,
                               const Tensor& mask) const {
  LADON_CHECK(!training() || dropout.p == 0, "LanguageModel",
              "is in training mode, and dropout would be drawn at every step; call eval() first");
  LADON_CHECK(tokens.rank() == 2, "LanguageModel", "tokens must be [batch, T], got shape ",
              tokens.shape());
  Tensor x = embedding(detail::blank_masked(tokens, mask));
  if (positions) {
    cache.most_positions = positions->weight.size(0);
    Tensor at = cache.next_positions(tokens.size(0), tokens.size(1), mask);
    if (mask.defined()) at = masked_fill(at, logical_not(mask), 0);  // position 0 for padding
    const std::int64_t last = at.count() > 0 ? amax(at).item<std::int64_t>() : 0;
    LADON_CHECK(last < cache.most_positions, "LanguageModel", "the text has reached position ",
                last, ", but the model has trained positions only below ", cache.most_positions,
                "; generate fewer tokens, or give a shorter prompt");
    x = x + ladon::embedding(positions->weight, at);
  }
  return body(dropout(x), cache, mask);
}

namespace {

/// Values of y [batch, T, dim] at the last token of each row: [batch, 1, dim].
Tensor last_of_rows(const Tensor& y, const Tensor& mask) {
  const std::int64_t batch = y.size(0), count = y.size(1);
  if (!mask.defined()) return slice(y, 1, {.start = std::max<std::int64_t>(0, count - 1)});
  const Tensor places = expand(arange(count), {batch, count});
  const Tensor last = amax(masked_fill(places, logical_not(mask), 0), {1});
  const Tensor rows = reshape(y, {batch * count, y.size(2)});
  return unsqueeze(index_select(rows, 0, arange(batch) * double(count) + last), 1);
}

}  // namespace

void LanguageModel::visit(Visitor& v) {
  v("embedding", embedding);
  v("positions", positions);
  v("dropout", dropout);
  v("body", body);
  v("head", head);
}

std::string LanguageModel::describe() const {
  return detail::join("LanguageModel(", embedding.weight.size(0), " tokens, ",
                      head ? "untied" : "tied", ")");
}

NextToken next_token(const LanguageModel& model) {
  return [&model](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
    const NoGrad no_grad;
    const detail::Undo undo(cache);
    return model.called(
        [&] { return model.logits(last_of_rows(model.features(tokens, cache, mask), mask)); });
  };
}

}  // namespace ladon
