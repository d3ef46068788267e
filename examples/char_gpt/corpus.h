#pragma once
// A text, character by character.

#include <string>

#include "ladon/core/data/characters.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::example {

/// The first nine tenths are trained on, the rest is for validation.
struct Corpus {
  std::string name;
  CharacterVocabulary characters;
  Tensor train, validation;  ///< i64 [n]
};

/// Throws Error for a text that cannot be read, is not UTF-8, or is shorter than 20 contexts.
Corpus read_corpus(const std::string& path, std::int64_t context);

/// What a model sees, and what comes after each of it: i64 [batch, context] each.
struct Window {
  Tensor x, y;
};
/// Windows at random places.
Window random_windows(const Tensor& text, std::int64_t batch, std::int64_t context, Generator& rng);
/// Window number `first` and the `batch` − 1 after it, side by side; fewer at the end of the text.
Window windows_from(const Tensor& text, std::int64_t first, std::int64_t batch,
                    std::int64_t context);
/// How many there are.
std::int64_t window_count(const Tensor& text, std::int64_t context);

/// Nats a character on the validation text of counted pairs of characters, one added to each count: what
/// can be had without a network.
double bigram_loss(const Corpus& corpus);

}  // namespace ladon::example
