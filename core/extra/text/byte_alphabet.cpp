#include "ladon/core/extra/text/byte_alphabet.h"

#include <array>

#include "ladon/core/io/utf8.h"

namespace ladon {
namespace {

constexpr std::int32_t first_other = 0x100, letters = first_other + 68;

constexpr bool is_visible(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
}

constexpr auto letter_table = [] {
  std::array<std::int32_t, 256> table{};
  std::int32_t other = first_other;
  for (int byte = 0; byte < 256; ++byte) table[byte] = is_visible(byte) ? byte : other++;
  return table;
}();

constexpr auto byte_table = [] {
  std::array<int, letters> table{};
  table.fill(-1);
  for (int byte = 0; byte < 256; ++byte) table[letter_table[byte]] = byte;
  return table;
}();

}  // namespace

std::int32_t letter_of_byte(int byte) { return letter_table[byte]; }

int byte_of_letter(std::int32_t code) {
  return code >= 0 && code < letters ? byte_table[code] : -1;
}

std::string to_byte_letters(std::string_view bytes) {
  std::string written;
  for (const char c : bytes) append_utf8(written, letter_of_byte(static_cast<unsigned char>(c)));
  return written;
}

std::optional<std::string> from_byte_letters(std::string_view written) {
  std::string bytes;
  for (std::size_t i = 0; i < written.size();) {
    const Character character = character_at(written, i);
    const int byte = byte_of_letter(character.code);
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    i += static_cast<std::size_t>(character.length);
  }
  return bytes;
}

}  // namespace ladon
