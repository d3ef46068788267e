#pragma once
// Warnings: messages about something that is not an error, but that the user should know.

#include <string_view>

namespace ladon::detail {

/// Writes "ladon: [operation] text" and a newline to std::cerr, at once.
void warn(std::string_view operation, std::string_view text);

}  // namespace ladon::detail
