#pragma once
// The header of a safetensors file. Internal to safetensors.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/io/elements.h"

namespace ladon {

inline constexpr const char* safetensors_metadata = "__metadata__";

/// In the metadata: the version that wrote the file, which has checksums then.
inline constexpr const char* safetensors_version = "ladon.version";
/// In the metadata: the checksums, each 8 hexadecimal digits, with a space between two. First the
/// sum of the CRC-32 of "key\0value\0" of all other metadata, then for each tensor, in the order of
/// their bytes, the CRC-32 of "name dtype shape" and its elements: as of "weight F32 [2, 3]" and 24
/// bytes.
inline constexpr const char* safetensors_checksums = "ladon.crc32";

/// Entry of the header for one tensor: the bytes [begin, end) of the elements are its own, and as
/// many as its shape needs.
struct SafetensorsEntry {
  std::string name;
  FileType type;
  Shape shape;
  std::uint64_t begin, end;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries = {};  ///< in the order of the text
  std::string checksums = "";                  ///< as they stand there; empty where there are none
  std::uint32_t notes = 0;                     ///< the first of them, as it is to be
  bool ours = false;  ///< the metadata has "ladon.version", which is written with checksums
};

/// The CRC-32 of one note of the metadata.
std::uint32_t checksum_of_note(std::string_view key, std::string_view value);

/// Reads the header's JSON in one pass that keeps nothing of it but the result, so that time is
/// linear (but for sorting names, to find one that stands twice) and the memory a small multiple of
/// the text, whatever the text is. `metadata` may be null; otherwise what is found is added to it,
/// but for the checksums.
///
/// Throws Error as load_safetensors() does for everything but how the tensors' bytes lie to each
/// other and to the file.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text,
                                           std::map<std::string, std::string>* metadata);

}  // namespace ladon
