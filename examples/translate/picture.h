#pragma once
// The course of a training, and where the decoder looks at its beginning and its end.

#include <filesystem>

#include "ladon/examples/translate/train.h"

namespace ladon::example {

/// Losses and BLEU against steps, above what translation word for word gives; the decoder's
/// attention. The picture's path, or an empty one.
std::filesystem::path draw(const Settings& s, const std::string& corpus, const Course& course,
                           const Attention& last, double word_for_word);

}  // namespace ladon::example
