#pragma once
// Text encodings.

#include <cstdint>
#include <string>
#include <string_view>

namespace ladon {

/// One character of a text.
struct Character {
  std::int32_t code;  ///< its code point; −1 for a byte that begins no well-formed one
  int length;         ///< in bytes; 1 for such a byte
};

/// The character at byte `at` < bytes.size(). Well-formed is: no overlong form, no surrogate,
/// nothing above U+10FFFF.
Character character_at(std::string_view bytes, std::size_t at);

/// Adds a code point from 0 to U+10FFFF to the end of a text.
void append_utf8(std::string& text, std::int32_t code);

/// Whether all of the bytes are well-formed UTF-8.
bool is_utf8(std::string_view bytes);

/// The text for a message: its first `length` bytes, without a character that would be cut, and "…"
/// if there are more.
std::string shortened(std::string_view text, std::size_t length = 80);

/// The text as UTF-8: unchanged (less a byte-order mark) if it is UTF-8 already, else every byte is
/// taken as the Latin-1 character it stands for.
std::string to_utf8(std::string bytes);

}  // namespace ladon
