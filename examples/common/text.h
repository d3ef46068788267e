#pragma once
// Functions that format text for results, scripts and help.

#include <string>
#include <vector>

#include "ladon/core/error.h"

namespace ladon::example {

/// join(parts…) prints its arguments one after the other into a string.
using detail::join;

/// The names, separated by commas: "a, b, c".
std::string listed(const std::vector<std::string>& names);

/// The text with & and < escaped for HTML.
std::string escaped(const std::string& text);

/// The number with its sign and four decimals: "+0.0123".
std::string signed_number(double x);

/// Number of characters that a terminal shows for UTF-8 text.
std::size_t width(const std::string& text);

/// Wraps a text into lines of at most `columns` characters; a longer word makes a longer line. All
/// lines but the first begin with `indent` spaces, which count as columns; the first is taken to
/// begin at column `indent`.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent = 0);

}  // namespace ladon::example
