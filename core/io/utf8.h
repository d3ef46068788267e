#pragma once
// Reading, writing and checking of UTF-8, and conversion from Latin-1.

#include <cstdint>
#include <string>
#include <string_view>

namespace ladon {

/// One character of a text.
struct Character {
  std::int32_t code;  ///< Code point; −1 for a byte that begins no well-formed character.
  int length;         ///< Length in bytes; 1 if the code is −1.
};

/// The character that begins at byte `at` < bytes.size(). Overlong forms, surrogates and code
/// points above U+10FFFF are not well-formed.
Character character_at(std::string_view bytes, std::size_t at);

/// Adds a code point from 0 to U+10FFFF to the end of a text.
void append_utf8(std::string& text, std::int32_t code);

/// Whether all of the bytes are well-formed UTF-8.
bool is_utf8(std::string_view bytes);

/// The text, shortened for a message: its first `length` bytes and "…" if there are more. A
/// character that would be cut is left out.
std::string shortened(std::string_view text, std::size_t length = 80);

/// The text as UTF-8. If it is UTF-8 already, only a byte-order mark is removed; else it is
/// converted from Latin-1.
std::string to_utf8(std::string bytes);

}  // namespace ladon
