#pragma once
// The page of the example: sentences, layers and heads to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/translate/translator.h"

namespace ladon::example {

/// Of the first test pairs of moderate length: attention of encoder and decoder while the decoder
/// writes the reference. The model is to be in evaluation mode.
Page page(Translator& translator, const Corpus& corpus);

}  // namespace ladon::example
