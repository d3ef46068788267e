#include "ladon/core/io/crc.h"

#include <array>
#include <bit>
#include <cstring>

namespace ladon {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken as they lie in memory");

// table[k][b] is the CRC of byte b followed by k zero bytes, so that sixteen bytes are one step.
constexpr auto table = [] {
  std::array<std::array<std::uint32_t, 256>, 16> t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    t[0][b] = c;
  }
  for (std::size_t k = 1; k < 16; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = t[k - 1][b] >> 8 ^ t[0][t[k - 1][b] & 255];
  return t;
}();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  std::uint32_t c = ~before;
  while (bytes.size() >= 16) {
    std::uint64_t words[2];
    std::memcpy(words, bytes.data(), 16);
    words[0] ^= c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k)
      c ^= table[15 - k][words[0] >> 8 * k & 255] ^ table[7 - k][words[1] >> 8 * k & 255];
    bytes.remove_prefix(16);
  }
  for (const char byte : bytes) c = c >> 8 ^ table[0][(c ^ static_cast<unsigned char>(byte)) & 255];
  return ~c;
}

}  // namespace ladon
