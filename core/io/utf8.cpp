#include "ladon/core/io/utf8.h"

#include <cstdint>

namespace ladon {

bool is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i++]);
    if (lead < 0x80) continue;
    // A lead byte announces 1 to 3 more bytes of 6 bits each, and the least code point worth them.
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    constexpr std::uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (lead < 0xc0 || lead > 0xf7 || bytes.size() - i < static_cast<std::size_t>(more))
      return false;
    std::uint32_t code = lead & (0x3fu >> more);
    for (int k = 0; k < more; ++k) {
      const auto byte = static_cast<unsigned char>(bytes[i++]);
      if ((byte & 0xc0u) != 0x80) return false;
      code = code << 6 | (byte & 0x3fu);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return true;
}

std::string to_utf8(std::string bytes) {
  if (is_utf8(bytes)) {
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
    return bytes;
  }
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return text;
}

}  // namespace ladon
