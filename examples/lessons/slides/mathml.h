#pragma once
// Formulas of the lessons' pages for a browser that has no network.

#include <string>

namespace ladon::lessons {

/// A formula in TeX as MathML, which every browser draws by itself; `display` in a line of its own.
/// Knows what the pages use: letters, Greek, sums, fractions, roots, accents, indices, brackets,
/// matrices and aligned lines. Throws Error for any other command, and where braces do not close;
/// also for a backslash before anything but a letter, which Markdown takes for itself (a new line
/// is \cr, a norm's bar \Vert).
std::string mathml(const std::string& tex, bool display);

}  // namespace ladon::lessons
