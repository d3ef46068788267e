#pragma once
// Text encodings.

#include <string>
#include <string_view>

namespace ladon {

/// Whether the bytes are well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_utf8(std::string_view bytes);

/// The text as UTF-8: unchanged (less a byte-order mark) if it is UTF-8 already, else every byte is
/// taken as the Latin-1 character it stands for.
std::string to_utf8(std::string bytes);

}  // namespace ladon
