#pragma once
// Small Llamas that differ in their key heads alone: what they learn, and what their caches cost.

#include <optional>
#include <vector>

#include "ladon/core/text/byte_pair.h"
#include "ladon/examples/common/next_token.h"
#include "ladon/examples/llama/settings.h"

namespace ladon::example {

/// A text in byte-pair tokens, which were learned from it.
struct Lesson {
  std::string name;
  BytePairTokenizer tokenizer;
  Split text;
};
/// Throws Error for a text that cannot be read or is shorter than 20 contexts.
Lesson read_lesson(const Settings& s);

/// The models with so many key heads.
struct Sharing {
  std::int64_t kv_heads = 0;
  std::int64_t weights = 0;
  std::int64_t cache_bytes = 0;         ///< Size of the cache per token.
  std::vector<double> validation = {};  ///< Nats a token, of each run.
  double seconds = 0;                   ///< For one token, as below.
};
/// A token is timed in so many texts side by side, each of so many tokens.
constexpr std::int64_t texts_beside = 8, tokens_before = 2048;

struct Study {
  std::vector<Sharing> rows;
  std::optional<LanguageModel> model;  ///< Of the first run, with the middle number of key heads.
  bool interrupted = false;
};
/// Trains the models, all on the same windows; interrupted, it has the rows that were finished.
Study run_study(const Settings& s, const Lesson& lesson);

}  // namespace ladon::example
