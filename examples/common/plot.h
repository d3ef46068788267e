#pragma once
// Pictures by gnuplot, called as a program.

#include <filesystem>
#include <string>

namespace ladon::example {

/// Writes `script` to folder/name.gp and runs gnuplot on it in that folder; the script is given the
/// terminal and writes folder/name.svg. Returns the picture's path, or an empty path, after one
/// line on stderr, when gnuplot is not there or fails: data and script stay for later.
std::filesystem::path plot(const std::filesystem::path& folder, const std::string& name,
                           const std::string& script, int width, int height);

}  // namespace ladon::example
