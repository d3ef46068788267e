#pragma once
// What a page shows of a program's output, and what another run must have in common with it.

#include <string>

namespace ladon::test {

/// Without times and memory, which no two runs share, and the tiles that are cut by measured times:
/// "#" stands for each, and one space for the widths that they make. Columns of them are known by
/// their names, those in text by their units.
std::string without_times(const std::string& text);

/// Whether `printed` is what a page shows where every rounding is the same: to the letter, but for
/// times, memory and tiles.
bool same_figures(const std::string& shown, const std::string& printed);

/// The same where roundings may differ, by another compiler or BLAS: the first line that has other
/// words, or a number that is off by more than three errors of two draws with the errors beside
/// them ("0.82 ± 0.07"), or without one by more than a unit of its last digit and a tenth of
/// itself. Empty where there is none.
std::string beyond_rounding(const std::string& shown, const std::string& printed);

}  // namespace ladon::test
