#pragma once
// The checksum of zip, gzip and safetensors files.

#include <cstdint>
#include <string_view>

namespace ladon {

/// CRC-32 (reflected polynomial 0xEDB88320, as in ISO 3309 and RFC 1952) of `bytes`, continuing
/// from `before`, the CRC of all bytes that precede them.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

}  // namespace ladon
