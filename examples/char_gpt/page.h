#pragma once
// The page of the example: texts, layers and heads to turn.

#include "ladon/examples/char_gpt/corpus.h"
#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Of pieces of the validation text.
Page page(LanguageModel& model, const Corpus& corpus, std::int64_t context);

}  // namespace ladon::example
