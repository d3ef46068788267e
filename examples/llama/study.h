#pragma once
// Small Llamas that differ only in their number of key heads: validation loss, cost of the cache.

#include <optional>
#include <vector>

#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/examples/common/next_token.h"
#include "ladon/examples/llama/settings.h"

namespace ladon::example {

/// A text, tokenized by byte pairs that were learned from it.
struct Lesson {
  std::string name;
  BytePairTokenizer tokenizer;
  Split text;
};
/// Reads the text and learns its tokenizer. Throws Error if the text cannot be read or is shorter
/// than 20 contexts.
Lesson read_lesson(const Settings& s);

/// Results of the models with this many key heads.
struct Sharing {
  std::int64_t kv_heads = 0;
  std::int64_t weights = 0;
  std::int64_t cache_bytes = 0;         ///< Bytes of the cache per token.
  std::vector<double> validation = {};  ///< Nats per token, of each run.
  double seconds = 0;                   ///< Seconds per token, timed as described below.
};
/// The time per token is measured while texts_beside texts are continued in parallel, each after
/// tokens_before tokens.
constexpr std::int64_t texts_beside = 8, tokens_before = 2048;

struct Study {
  std::vector<Sharing> rows;
  std::optional<LanguageModel> model;  ///< Model of run 1 with the middle number of key heads.
  bool interrupted = false;
};
/// Trains the models, all on the same windows. After an interrupt, the finished rows remain.
Study run_study(const Settings& s, const Lesson& lesson);

}  // namespace ladon::example
