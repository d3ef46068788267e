#include "ladon/layers/extra/sequence/continuous_batch.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/extra/sequence/token_choice.h"

namespace ladon {
namespace {
const char* const on_token = "on_token";
}

// A step is a transaction. Texts first draw their tokens, which are reported to callers and cannot
// be undone; therefore a text records whether the model has processed its last token. The model's
// results are computed separately, and moved into the batch once they are complete.

struct ContinuousBatch::Row {
  detail::DrawnText text;
  // Logits [vocabulary] of the next token; undefined until the model has processed the last token.
  Tensor logits;
  bool goes_on = true;
  bool cancelled = false;

  void end_by(std::exception_ptr error) {
    text.text.error = std::move(error);
    goes_on = false;
  }
  void write() {
    try {
      const bool more = text.grow(logits);
      goes_on = goes_on && more;  // on_token may have cancelled it
      logits = {};
    } catch (...) {
      end_by(std::current_exception());
    }
  }
};

/// State of the batch after a pass of the model.
struct ContinuousBatch::Reading {
  DecodingCache cache;
  std::vector<Tensor> logits;
};

ContinuousBatch::ContinuousBatch(NextToken next) : next_(std::move(next)) {
  LADON_CHECK(next_, "ContinuousBatch",
              "the model is an empty function; pass one that maps tokens to logits");
}
ContinuousBatch::~ContinuousBatch() = default;
// If a batch is moved inside a callback, the old object is still in the call, and iterates over
// rows that the new object now owns. Therefore both share inside_.
ContinuousBatch::ContinuousBatch(ContinuousBatch&& other) noexcept
    : next_(std::move(other.next_)),
      cache_(std::move(other.cache_)),
      rows_(std::move(other.rows_)),
      requests_(other.requests_),
      inside_(other.inside_) {}

std::int64_t ContinuousBatch::open() const {
  return std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return !row.cancelled; });
}

std::int64_t ContinuousBatch::add(const Tensor& prompt, const GenerateOptions& options,
                                  Generator& rng) {
  LADON_CHECK(!*inside_, "ContinuousBatch", "add() was called inside ", *inside_,
              "; keep the request, and add it after the step");
  LADON_CHECK(next_, "ContinuousBatch", "has no model: it was moved from");
  detail::check_options(options);
  LADON_CHECK(options.beams == 0, "ContinuousBatch", "has no beam search, but beams is ",
              options.beams, "; use generate()");
  LADON_CHECK(options.cached, "ContinuousBatch",
              "always uses a cache, but cached is false; use generate()");
  LADON_CHECK(prompt.defined() && prompt.dtype() == i64 && prompt.rank() == 1 && prompt.count() > 0,
              "ContinuousBatch", "the prompt must be i64 [T] with T > 0", ", got ",
              detail::kind_in_words(prompt));
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  DecodingCache own;
  const Tensor logits = call_model(unsqueeze(prompt, 0), own);
  LADON_CHECK(next_, "ContinuousBatch", "was moved inside the model function, in add()");
  // The last generated token is not processed, and so needs no position.
  const std::int64_t most = own.most_positions;
  LADON_CHECK(most == 0 || options.length <= most + 1 - prompt.count(), "ContinuousBatch",
              "a prompt of ", prompt.count(), " tokens and ", options.length,
              " more do not fit into the model's ", most, " positions; ask for ",
              most + 1 - prompt.count(), " at most, or give a shorter prompt");
  // Made before the aggregate Row: g++ 12 destroys a nested aggregate twice if a later member
  // throws.
  Tensor first = detail::logits_after(logits, {prompt.count() - 1})[0];
  detail::Tokens tokens = prompt.to_vector<std::int64_t>();
  GenerateOptions wanted = options;
  Row row{{requests_, std::move(tokens), std::move(wanted), rng}, std::move(first)};
  DecodingCache joined = cache_.snapshot();
  joined.join(own);
  rows_.reserve(rows_.size() + 1);
  row.text.rng = rng.split(rng.reserve(1)).split(0);
  cache_ = std::move(joined);
  rows_.push_back(std::move(row));
  return requests_++;
}

Tensor ContinuousBatch::call_model(const Tensor& tokens, DecodingCache& cache) const {
  const detail::Bracket inside(*inside_, "the model function");
  return next_(tokens, cache, {});
}

ContinuousBatch::Reading ContinuousBatch::read(const std::vector<std::size_t>& places) const {
  if (places.empty()) return {};
  const auto count = static_cast<std::int64_t>(places.size());
  detail::Tokens tokens;
  for (const std::size_t i : places) tokens.push_back(rows_[i].text.text.tokens.back());
  Reading all{cache_.snapshot(), {}};
  if (places.size() < rows_.size())
    all.cache.select(from_vector(detail::Tokens(places.begin(), places.end()), {count}));
  all.logits = detail::logits_after(call_model(from_vector(tokens, {count, 1}), all.cache),
                                    detail::Tokens(places.size(), 0));
  return all;
}

/// Calls read() for one text at a time. A text for which read() throws ends with that error.
ContinuousBatch::Reading ContinuousBatch::read_each_alone(const std::vector<std::size_t>& places) {
  Reading all;
  for (const std::size_t i : places) try {
      const Reading one = read({i});
      DecodingCache joined = all.cache.snapshot();
      joined.join(one.cache);
      all.logits.push_back(one.logits[0]);
      all.cache = std::move(joined);
    } catch (...) {
      rows_[i].end_by(std::current_exception());
    }
  return all;
}

std::vector<std::pair<std::int64_t, Generated>> ContinuousBatch::step() {
  LADON_CHECK(!*inside_, "ContinuousBatch", "step() was called inside ", *inside_,
              "; call it after that call of the batch has returned");
  const NoGrad no_grad;
  const RowwiseProducts rowwise;
  std::vector<std::size_t> places;
  {
    const detail::Bracket inside(*inside_, on_token);
    for (Row& row : rows_)
      if (row.goes_on && row.logits.defined()) row.write();
  }
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].goes_on) places.push_back(i);
  Reading all;
  try {
    all = read(places);
  } catch (...) {
    all = read_each_alone(places);
  }
  std::vector<std::pair<std::int64_t, Generated>> ended;
  std::vector<Row> kept;
  ended.reserve(rows_.size());
  kept.reserve(places.size());
  for (Row& row : rows_) {  // from here on nothing throws
    if (row.goes_on) {
      row.logits = std::move(all.logits[kept.size()]);
      kept.push_back(std::move(row));
    } else if (!row.cancelled) {
      ended.emplace_back(row.text.row, std::move(row.text.text));
    }
  }
  rows_ = std::move(kept);
  cache_ = std::move(all.cache);
  return ended;
}

Generated ContinuousBatch::cancel(std::int64_t request) {
  LADON_CHECK(!*inside_ || *inside_ == on_token, "ContinuousBatch", "cancel() was called inside ",
              *inside_, ", which computes this text; cancel it in on_token, or after the step");
  const auto row = std::find_if(rows_.begin(), rows_.end(), [request](const Row& each) {
    return each.text.row == request && each.goes_on;
  });
  LADON_CHECK(row != rows_.end(), "ContinuousBatch", "request ", request,
              request >= 0 && request < requests_ ? " has ended" : " was never made",
              "; add() numbers requests from 0, and has made ", requests_);
  Generated text = row->text.text;
  row->goes_on = false;
  row->cancelled = true;
  return text;
}

}  // namespace ladon
