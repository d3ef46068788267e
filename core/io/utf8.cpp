#include "ladon/core/io/utf8.h"

namespace ladon {

Character character_at(std::string_view bytes, std::size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  if (lead < 0x80) return {lead, 1};
  // A lead byte announces 1 to 3 more bytes of 6 bits each; least[n] is the smallest code point
  // that needs n more bytes.
  const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  constexpr std::int32_t least[] = {0, 0x80, 0x800, 0x10000};
  constexpr Character malformed{-1, 1};
  if (lead < 0xc0 || lead > 0xf7 || bytes.size() - at <= static_cast<std::size_t>(more))
    return malformed;
  std::int32_t code = lead & (0x3f >> more);
  for (int k = 1; k <= more; ++k) {
    const auto byte = static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(k)]);
    if ((byte & 0xc0) != 0x80) return malformed;
    code = code << 6 | (byte & 0x3f);
  }
  if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return malformed;
  return {code, more + 1};
}

void append_utf8(std::string& text, std::int32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr int marks[] = {0, 0xc0, 0xe0, 0xf0};  // marks[n]: lead byte that n bytes follow
  text += static_cast<char>(marks[more] | code >> 6 * more);
  for (int k = more - 1; k >= 0; --k) text += static_cast<char>(0x80 | (code >> 6 * k & 0x3f));
}

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const Character character = character_at(bytes, i);
    if (character.code < 0) return false;
    i += static_cast<std::size_t>(character.length);
  }
  return true;
}

std::string shortened(std::string_view text, std::size_t length) {
  if (text.size() <= length) return std::string(text);
  while (length > 0 && (text[length] & 0xc0) == 0x80) --length;
  return std::string(text.substr(0, length)) + "…";
}

std::string to_utf8(std::string bytes) {
  if (is_utf8(bytes)) {
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
    return bytes;
  }
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) append_utf8(text, static_cast<unsigned char>(c));
  return text;
}

}  // namespace ladon
