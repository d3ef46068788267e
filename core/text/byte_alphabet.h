#pragma once
// The characters that GPT-2's files write bytes as: each byte that is a visible character of
// Latin-1 as that, and the other 68, in their order, as U+0100 and those after it. (A blank is Ġ,
// U+0120.)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ladon {

/// The code point that a byte, 0 to 255, is written as; the byte that a code point writes, or −1.
std::int32_t letter_of_byte(int byte);
int byte_of_letter(std::int32_t code);

/// Bytes as the files write them.
std::string to_byte_letters(std::string_view bytes);
/// Bytes that the letters stand for; nothing if a character is none of the 256.
std::optional<std::string> from_byte_letters(std::string_view letters);

}  // namespace ladon
