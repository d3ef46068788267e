#pragma once
// A loaded model writes.

#include <string>

#include "ladon/examples/llama/settings.h"
#include "ladon/layers/pretrained.h"

namespace ladon::example {

struct Written {
  std::string prompt, text;                  ///< As text, or as numbers.
  std::int64_t tokens = 0, again = 0;        ///< Written with the cache, and without.
  double seconds = 0, seconds_uncached = 0;  ///< For these.
  bool same = true;                          ///< Whether they are the same.
};

/// Goes on from the prompt with the model of `folder`. Throws Error where the prompt is empty, is no
/// numbers of tokens (--ids), or where prompt and answer are longer than the model was trained to see.
Written write_on(const Settings& s, const std::string& folder, const LanguageModel& model);

}  // namespace ladon::example
