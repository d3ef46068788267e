#pragma once
// Continuous batching: texts of several requests, written side by side, each from when it comes to
// its own end (Yu et al. 2022, "Orca").

#include <cstdint>
#include <utility>
#include <vector>

#include "ladon/layers/sequence/generate.h"

namespace ladon {

/// Requests whose texts grow by a token per step, in one pass of the model over all of them:
///
///   ContinuousBatch batch(next_token(model));
///   batch.add(prompt, {.length = 50}, rng);       // at any time between steps
///   while (batch.open() > 0)
///     for (const auto& [request, text] : batch.step()) …;
///
/// The tokens of a request are those that generate() gives it alone, bit for bit: they do not
/// depend on what stands beside it. Not recorded, and under RowwiseProducts.
class ContinuousBatch {
 public:
  explicit ContinuousBatch(NextToken next);
  ~ContinuousBatch();
  ContinuousBatch(ContinuousBatch&&) noexcept;

  /// Adds a request: prompt i64 [T], T > 0; draws from its own split of rng, as generate(). Its
  /// number, from 0 on, is the row of `on_token`. The model reads the prompt at once. Throws Error
  /// as generate(), and for beams or `cached` = false.
  std::int64_t add(const Tensor& prompt, const GenerateOptions& options, Generator& rng);
  /// Writes the next token of every open text. Texts that end with it, by their request.
  std::vector<std::pair<std::int64_t, Generated>> step();
  /// Number of texts that go on.
  std::int64_t open() const;

 private:
  struct Row;
  NextToken next_;
  DecodingCache cache_;  // its rows are those of rows_
  std::vector<Row> rows_;
  std::int64_t requests_ = 0;
};

}  // namespace ladon
