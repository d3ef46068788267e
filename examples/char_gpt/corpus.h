#pragma once
// A text, character by character.

#include <string>

#include "ladon/core/text/characters.h"
#include "ladon/examples/common/next_token.h"

namespace ladon::example {

struct Corpus {
  std::string name;
  CharacterVocabulary characters;
  Split text;
};

/// Throws Error for a text that cannot be read, is not UTF-8, or is shorter than 20 contexts.
Corpus read_corpus(const std::string& path, std::int64_t context);

/// Nats a character on the validation text of counted pairs of characters, one added to each count:
/// what can be had without a network.
double bigram_loss(const Corpus& corpus);

}  // namespace ladon::example
