#include "ladon/layers/sequence/continuous_batch.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/sequence/token_choice.h"

namespace ladon {

struct ContinuousBatch::Row {
  detail::DrawnText text;
  Tensor logits;  // [vocabulary] of its next token
};

ContinuousBatch::ContinuousBatch(NextToken next) : next_(std::move(next)) {}
ContinuousBatch::~ContinuousBatch() = default;
ContinuousBatch::ContinuousBatch(ContinuousBatch&&) noexcept = default;

std::int64_t ContinuousBatch::open() const { return static_cast<std::int64_t>(rows_.size()); }

std::int64_t ContinuousBatch::add(const Tensor& prompt, const GenerateOptions& options,
                                  Generator& rng) {
  detail::check_options(options);
  LADON_CHECK(options.beams == 0 && options.cached, "ContinuousBatch",
              "draws, by a cache; write with beams or without a cache by generate()");
  LADON_CHECK(prompt.defined() && prompt.dtype() == i64 && prompt.rank() == 1 && prompt.count() > 0,
              "ContinuousBatch", "the prompt must be i64 [T] with T > 0",
              prompt.defined() ? detail::join(", got ", prompt.dtype(), " ", prompt.shape()) : "");
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  DecodingCache own;
  const Tensor logits = next_(unsqueeze(prompt, 0), own, {});
  Row row{
      {requests_, prompt.to_vector<std::int64_t>(), options, rng.split(rng.reserve(1)).split(0)},
      detail::logits_after(logits, {prompt.count() - 1})[0]};
  cache_.join(own);
  rows_.push_back(std::move(row));
  return requests_++;
}

std::vector<std::pair<std::int64_t, Generated>> ContinuousBatch::step() {
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  std::vector<std::pair<std::int64_t, Generated>> ended;
  std::vector<Row> kept;
  detail::Tokens places, tokens;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    detail::DrawnText& text = rows_[i].text;
    if (!text.grow(rows_[i].logits)) {
      ended.emplace_back(text.row, std::move(text.text));
      continue;
    }
    places.push_back(static_cast<std::int64_t>(i));
    tokens.push_back(text.text.tokens.back());
    kept.push_back(std::move(rows_[i]));
  }
  const auto count = static_cast<std::int64_t>(kept.size());
  if (count == 0)
    cache_ = {};
  else if (kept.size() < rows_.size())
    cache_.select(from_vector(places, {count}));
  rows_ = std::move(kept);
  if (count == 0) return ended;
  const auto logits = detail::logits_after(next_(from_vector(tokens, {count, 1}), cache_, {}),
                                           detail::Tokens(rows_.size(), 0));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].logits = logits[i];
  return ended;
}

}  // namespace ladon
