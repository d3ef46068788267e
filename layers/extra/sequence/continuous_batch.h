#pragma once
// Continuous batching (Yu et al. 2022, "Orca"): generates texts of several requests in one batch,
// each from its arrival to its own end.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ladon/layers/extra/sequence/generate.h"

namespace ladon {

/// Requests whose texts grow by a token per step, in one pass of the model over all of them:
///
///   ContinuousBatch batch(next_token(model));
///   batch.add(prompt, {.length = 50}, rng);       // at any time between steps
///   while (batch.open() > 0)
///     for (const auto& [request, text] : batch.step())
///       if (text.error) …;                        // std::rethrow_exception(text.error)
///       else …;
///
/// For attention with softmax weights, the tokens of a request are those that generate() gives it
/// alone, bit for bit: they depend neither on the other texts in the batch nor on their failures.
/// With other weights logits may differ by rounding, which may change a token. If a pass over all
/// texts throws, each text is processed alone. A text that fails alone, or whose `on_token` throws,
/// ends with the exception in its Generated::error, and the others go on. Runs under NoGrad and
/// RowwiseProducts. `on_token` may cancel requests, but add() and step() throw Error inside it.
/// Inside the model function, add(), step() and cancel() throw Error. If the batch is moved inside
/// `on_token`, the same rules hold for the new object until the step has returned.
class ContinuousBatch {
 public:
  /// Throws Error for an empty function.
  explicit ContinuousBatch(NextToken next);
  ~ContinuousBatch();
  ContinuousBatch(ContinuousBatch&&) noexcept;

  /// Adds a request: prompt i64 [T], T > 0; draws from its own split of rng, as generate() does.
  /// Returns the number of the request (0, 1, …), which is the row given to `on_token`. The model
  /// processes the prompt within this call. Throws Error whenever generate() does, for beams or
  /// `cached` = false, and if the prompt and `length` - 1 tokens (the last generated token needs no
  /// position) exceed the model's positions (DecodingCache::most_positions); if anything is thrown,
  /// neither the batch nor rng has changed.
  std::int64_t add(const Tensor& prompt, const GenerateOptions& options, Generator& rng);
  /// Generates the next token of every open text. Returns the texts that end with this token, with
  /// their request numbers. If memory does not suffice for a pass over one text, that text ends
  /// with the error in Generated::error. If step() itself throws, the next call continues where
  /// this one stopped.
  std::vector<std::pair<std::int64_t, Generated>> step();
  /// Ends a text and returns its tokens so far; step() will not return it. Throws Error if the
  /// request has ended, or was never made.
  Generated cancel(std::int64_t request);
  /// Number of texts that step() has not returned yet.
  std::int64_t open() const;

 private:
  struct Row;
  struct Reading;
  Tensor call_model(const Tensor& tokens, DecodingCache& cache) const;
  Reading read(const std::vector<std::size_t>& places) const;
  Reading read_each_alone(const std::vector<std::size_t>& places);

  NextToken next_;
  DecodingCache cache_;  // its rows correspond to rows_
  std::vector<Row> rows_;
  std::int64_t requests_ = 0;
  /// The callback that is being called, by its name in messages; null outside callbacks.
  std::shared_ptr<const char*> inside_ = std::make_shared<const char*>(nullptr);
};

}  // namespace ladon
