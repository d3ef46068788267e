#pragma once
// Picture of the cost and the savings of shared keys.

#include <filesystem>

#include "ladon/examples/llama/study.h"

namespace ladon::example {

/// Validation loss, and the cache's size, against key heads. The picture's path, or an empty one;
/// there is none of a single number of heads.
std::filesystem::path draw(const Settings& s, const Lesson& lesson, const Study& study);

}  // namespace ladon::example
