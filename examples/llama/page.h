#pragma once
// Interactive page of the example, on which the reader chooses texts, layers and heads.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/llama/study.h"

namespace ladon::example {

/// Shows the attention of the study's model in pieces of the validation text.
Page page(LanguageModel& model, const Lesson& lesson, std::int64_t context);

}  // namespace ladon::example
