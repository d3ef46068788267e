#pragma once
// The characters as which GPT-2's files write bytes: a byte that is a visible character of Latin-1
// is written as that character, the other 68, in their order, as U+0100 and the following ones. (A
// blank is Ġ, U+0120.)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ladon {

/// The code point for a byte, 0 to 255; the byte for a code point, or −1.
std::int32_t letter_of_byte(int byte);
int byte_of_letter(std::int32_t code);

/// Bytes as the files write them.
std::string to_byte_letters(std::string_view bytes);
/// Bytes that the letters stand for; nothing if a character is not one of the 256.
std::optional<std::string> from_byte_letters(std::string_view letters);

}  // namespace ladon
