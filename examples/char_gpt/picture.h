#pragma once
// Picture of losses during training.

#include <filesystem>
#include <vector>

#include "ladon/examples/char_gpt/train.h"

namespace ladon::example {

/// Draws losses against steps, with the bigram model's loss for comparison. Returns the picture's
/// path, or an empty path if nothing was drawn.
std::filesystem::path draw(const Settings& s, const std::string& corpus,
                           const std::vector<Look>& looks, double bigram);

}  // namespace ladon::example
