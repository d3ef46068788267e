#pragma once
// The characters that stand for bytes in GPT-2's files. A byte that is a visible character of
// Latin-1 is written as that character; the other 68 bytes, in ascending order, are written as
// U+0100 to U+0143. (A blank is written as Ġ, U+0120.)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ladon {

/// The code point of the character for a byte from 0 to 255; and the byte for a code point, −1 if
/// there is none.
std::int32_t letter_of_byte(int byte);
int byte_of_letter(std::int32_t code);

/// The characters that stand for these bytes in the files, as UTF-8.
std::string to_byte_letters(std::string_view bytes);
/// The bytes that the characters stand for; nullopt if a character is not one of the 256.
std::optional<std::string> from_byte_letters(std::string_view letters);

}  // namespace ladon
