#pragma once
// A loaded model writes.

#include <string>

#include "ladon/examples/llama/settings.h"
#include "ladon/layers/sequence/pretrained.h"

namespace ladon::example {

struct Written {
  std::vector<std::int64_t> tokens;
  std::string text;        ///< That is them, after the prompt.
  std::int64_t again = 0;  ///< Number of them that were written without the cache, too.
  double seconds = 0, seconds_uncached = 0;  ///< For these.
  bool same = true;                          ///< Whether they are the same.
};

/// Goes on from the prompt with the model of `folder`. Throws Error where the prompt is empty, is
/// no numbers of tokens (--ids), or where prompt and answer are longer than the model was trained
/// to see.
Written write_on(const Settings& s, const std::string& folder, const LanguageModel& model);

}  // namespace ladon::example
