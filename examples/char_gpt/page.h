#pragma once
// Interactive page of the example, on which the reader chooses texts, layers and heads.

#include "ladon/examples/char_gpt/corpus.h"
#include "ladon/examples/common/page/page.h"

namespace ladon::example {

/// Shows attention in pieces of the validation text.
Page page(LanguageModel& model, const Corpus& corpus, std::int64_t context);

}  // namespace ladon::example
