#pragma once
// Picture of the cost and the savings of shared keys and values.

#include <filesystem>

#include "ladon/examples/llama/study.h"

namespace ladon::example {

/// Draws validation loss and cache size against the number of key heads. Returns the picture's
/// path; with a single number of heads nothing is drawn, and the path is empty.
std::filesystem::path draw(const Settings& s, const Lesson& lesson, const Study& study);

}  // namespace ladon::example
