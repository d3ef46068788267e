#pragma once
// The example's picture.

#include <map>
#include <string>
#include <vector>

#include "ladon/examples/repulsive_heads/train.h"

namespace ladon::example {

/// Outcomes of each method, one a seed.
using Outcomes = std::vector<std::pair<std::string, std::vector<Outcome>>>;

/// Draws out/repulsive_heads.svg: similarity of the heads' attention maps before training, after
/// plain training and after the first repulsive method, and the learning curves of all methods
/// (mean over seeds). Returns its path; empty without gnuplot.
std::filesystem::path draw(const Settings& settings, const Outcomes& outcomes);

}  // namespace ladon::example
