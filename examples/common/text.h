#pragma once
// Texts of results, scripts and help.

#include <string>
#include <vector>

#include "ladon/core/error.h"

namespace ladon::example {

/// join(parts…) prints its arguments, one after the other, into a string.
using detail::join;

/// "a, b, c"
std::string listed(const std::vector<std::string>& names);

/// Text with & and < as HTML writes them.
std::string escaped(const std::string& text);

/// "+0.0123"
std::string signed_number(double x);

/// Characters that a terminal shows for UTF-8 text.
std::size_t width(const std::string& text);

/// The text in lines of at most `columns` characters where its words allow. All but the first line
/// begin with `indent` spaces, which count.
std::string wrapped(const std::string& text, std::size_t columns, std::size_t indent = 0);

}  // namespace ladon::example
