#pragma once
// The header of a safetensors file. Internal to safetensors.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/io/elements.h"

namespace ladon {

inline constexpr const char* safetensors_metadata = "__metadata__";

/// Key in the metadata: the version of Ladon that wrote the file, which then has checksums.
inline constexpr const char* safetensors_version = "ladon.version";
/// Key in the metadata: the checksums, each 8 hexadecimal digits, with spaces between them. The
/// first is the sum, over all other metadata, of the CRC-32 of "key\0value\0". Then follows for
/// each tensor, in the order of their bytes, the CRC-32 of "name dtype shape" and its elements, for
/// instance of "weight F32 [2, 3]" and 24 bytes.
inline constexpr const char* safetensors_checksums = "ladon.crc32";

/// Entry of the header for one tensor: its elements are bytes [begin, end), exactly as many as its
/// shape needs.
struct SafetensorsEntry {
  std::string name;
  FileType type;
  Shape shape;
  std::uint64_t begin, end;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries = {};  ///< in the order of the JSON text
  std::string checksums = "";                  ///< as stored; empty if there are none
  std::uint32_t notes = 0;                     ///< checksum of the metadata, computed on reading
  bool ours = false;  ///< the metadata has "ladon.version", which is written with checksums
};

/// CRC-32 of one entry of the metadata.
std::uint32_t checksum_of_note(std::string_view key, std::string_view value);

/// Parses the header's JSON in one pass that keeps only the result. Time is therefore linear in the
/// length of the text, except for sorting the names to find repeated ones, and memory is a small
/// multiple of that length, whatever the text contains. If `metadata` is not null, the metadata are
/// added to it, without the checksums.
///
/// Throws Error for a header that load_safetensors() would reject, but does not check whether the
/// tensors' bytes overlap, leave gaps or fit the file.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::string_view text,
                                           std::map<std::string, std::string>* metadata);

}  // namespace ladon
