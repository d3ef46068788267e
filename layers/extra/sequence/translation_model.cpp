#include "ladon/layers/extra/sequence/translation_model.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"
#include "ladon/layers/attention/positional.h"
#include "ladon/layers/masked.h"

namespace ladon {

TranslationModel::TranslationModel(const TranslationModelOptions& o, Generator& rng)
    : embedding({.count = o.vocabulary,
                 .dim = o.body.layer.dim,
                 .stddev = 1 / std::sqrt(static_cast<double>(o.body.layer.dim))},
                rng),
      dropout(o.body.layer.dropout, rng),
      body(o.body, rng) {}

/// Embeddings of tokens at `positions`: i64 [batch, T], or [T] for all rows.
Tensor TranslationModel::embedded(const Tensor& tokens, const Tensor& positions) const {
  LADON_CHECK(tokens.rank() == 2, "TranslationModel", "tokens must be [batch, T], got shape ",
              tokens.shape());
  const std::int64_t dim = embedding.weight.size(1);
  const std::int64_t count = positions.count() > 0 ? amax(positions).item<std::int64_t>() + 1 : 0;
  const Tensor table = sinusoidal_table(count, dim, embedding.weight.dtype());
  return dropout(embedding(tokens) * std::sqrt(static_cast<double>(dim)) +
                 ladon::embedding(table, positions));
}

Tensor TranslationModel::embedded(const Tensor& tokens) const {
  return embedded(tokens, arange(tokens.size(-1)));
}

Tensor TranslationModel::encoded(const Tensor& sources, const Tensor& source_mask) const {
  return body.encoder(embedded(detail::blank_masked(sources, source_mask)),
                      AttentionMask{.key_mask = source_mask});
}

Tensor TranslationModel::forward(const Tensor&) const {
  detail::fail("TranslationModel",
               "needs targets; call it as model(sources, targets, source_mask)");
}

Tensor TranslationModel::forward(const Tensor& sources, const Tensor& targets,
                                 const Tensor& source_mask) const {
  const Tensor seen = detail::blank_masked(sources, source_mask);
  return linear(body(embedded(seen), embedded(targets), source_mask), embedding.weight);
}

TransformerDecoder::Details TranslationModel::forward_with_weights(
    const Tensor& sources, const Tensor& targets, const Tensor& source_mask) const {
  auto details = body.decoder.forward_with_weights(embedded(targets), encoded(sources, source_mask),
                                                   {}, {.key_mask = source_mask});
  details.output = linear(details.output, embedding.weight);
  return details;
}

DecodingCache TranslationModel::remember(const Tensor& sources, const Tensor& source_mask) const {
  const NoGrad no_grad;
  return body.decoder.remember(encoded(sources, source_mask), source_mask);
}

Tensor TranslationModel::forward(const Tensor& targets, DecodingCache& cache,
                                 const Tensor& mask) const {
  const NoGrad no_grad;
  const detail::Undo undo(cache);
  LADON_CHECK(!training() || dropout.p == 0, "TranslationModel",
              "is in training mode, and dropout would be drawn at every step; call eval() first");
  LADON_CHECK(targets.rank() == 2, "TranslationModel", "tokens must be [batch, T], got shape ",
              targets.shape());
  Tensor at = cache.next_positions(targets.size(0), targets.size(1), mask);
  if (mask.defined()) at = masked_fill(at, logical_not(mask), 0);  // position 0 for padding
  const Tensor seen = detail::blank_masked(targets, mask);
  return linear(body.decoder(embedded(seen, at), cache, mask), embedding.weight);
}

void TranslationModel::visit(Visitor& v) {
  v("embedding", embedding);
  v("dropout", dropout);
  v("body", body);
}

std::string TranslationModel::describe() const {
  return detail::join("TranslationModel(", embedding.weight.size(0), " tokens)");
}

NextToken next_token(const TranslationModel& model) {
  return [&model](const Tensor& tokens, DecodingCache& cache, const Tensor& mask) {
    return model(tokens, cache, mask);
  };
}

}  // namespace ladon
