#pragma once
// Text generation by a loaded model.

#include <string>

#include "ladon/examples/llama/settings.h"
#include "ladon/layers/extra/sequence/pretrained.h"

namespace ladon::example {

struct Written {
  std::vector<std::int64_t> tokens;
  std::string text;        ///< The prompt, and the text of `tokens`.
  std::int64_t again = 0;  ///< Number of tokens that were also written without the cache.
  double seconds = 0, seconds_uncached = 0;  ///< Time for `tokens`, and for `again` tokens.
  bool same = true;                          ///< Whether tokens are the same without cache.
};

/// Continues the prompt with the model of `folder`. Throws Error if the prompt is empty, does not
/// consist of token numbers (--ids), or if prompt and answer exceed the length that the model was
/// trained for.
Written write_on(const Settings& s, const std::string& folder, const LanguageModel& model);

}  // namespace ladon::example
