#pragma once
// The course of a training.

#include <filesystem>
#include <vector>

#include "ladon/examples/char_gpt/train.h"

namespace ladon::example {

/// Losses against steps, above what counted pairs of characters give. The picture's path, or an
/// empty one.
std::filesystem::path draw(const Settings& s, const std::string& corpus,
                           const std::vector<Look>& looks, double bigram);

}  // namespace ladon::example
