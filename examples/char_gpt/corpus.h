#pragma once
// A text as a sequence of characters.

#include <string>

#include "ladon/core/extra/text/characters.h"
#include "ladon/examples/common/next_token.h"

namespace ladon::example {

struct Corpus {
  std::string name;
  CharacterVocabulary characters;
  Split text;
};

/// Throws Error if the text cannot be read, is not UTF-8, or is shorter than 20 contexts.
Corpus read_corpus(const std::string& path, std::int64_t context);

/// Loss of a bigram model on the validation text, in nats per character, with one added to each
/// count: a baseline without a network.
double bigram_loss(const Corpus& corpus);

}  // namespace ladon::example
