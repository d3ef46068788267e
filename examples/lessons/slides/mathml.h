#pragma once
// Formulas of the lessons' pages as MathML, for browsers without a network.

#include <string>

namespace ladon::lessons {

/// Converts a TeX formula to MathML, which every browser draws by itself; `display` puts it on its
/// own line. Supports what the pages use: letters, Greek, sums, fractions, roots, accents, indices,
/// brackets, matrices and aligned lines. Throws Error for any other command, for unbalanced braces,
/// and for a backslash before anything but a letter, which Markdown would consume (a new line is
/// \cr, a norm's bar \Vert).
std::string mathml(const std::string& tex, bool display);

}  // namespace ladon::lessons
