#pragma once
// Comparison of a program's output with the output that a page shows.

#include <string>

namespace ladon::test {

/// The text with "#" instead of times, amounts of memory and numbers of tiles, which differ between
/// runs, and with one space instead of several, since these numbers determine column widths. They
/// are recognized by the names of their columns or, in text, by their units.
std::string without_times(const std::string& text);

/// Whether `printed` equals `shown` except for times, memory and tiles (without_times()): for
/// machines on which all floating-point results are identical.
bool same_figures(const std::string& shown, const std::string& printed);

/// Comparison for machines whose roundings differ, by another compiler or BLAS: the first line with
/// other words, or with a number that differs too much; empty if there is none. A number with a
/// standard error ("0.82 ± 0.07") may differ by three standard errors of the difference of two
/// draws; the standard error itself by a factor of four; any other number by a tenth of itself. All
/// may differ by a unit of their last digit.
std::string beyond_rounding(const std::string& shown, const std::string& printed);

}  // namespace ladon::test
