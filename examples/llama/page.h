#pragma once
// The page of the example: texts, layers and heads to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/llama/study.h"

namespace ladon::example {

/// Of the study's model, in pieces of the validation text.
Page page(LanguageModel& model, const Lesson& lesson, std::int64_t context);

}  // namespace ladon::example
