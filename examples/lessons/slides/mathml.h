#pragma once
// Formulas of the lessons' pages as MathML, for browsers without a network.

#include <string>

namespace ladon::lessons {

/// Converts a TeX formula to MathML, which browsers draw without scripts; `display` puts it on a
/// separate line. Supports the parts of TeX that the lessons use: letters, Greek, sums, fractions,
/// roots, accents, indices, brackets, matrices and aligned lines. Throws Error for any other
/// command, for unbalanced braces, and for a backslash before a character that is not a letter,
/// because Markdown removes it (write \cr for a new line, and \Vert for the bar of a norm).
std::string mathml(const std::string& tex, bool display);

}  // namespace ladon::lessons
