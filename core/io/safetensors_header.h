#pragma once
// The header of a safetensors file. Internal to safetensors.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/core/io/elements.h"

namespace ladon {

inline constexpr const char* safetensors_metadata = "__metadata__";

/// What the header says of one tensor: the bytes [begin, end) of the elements are its own, and as
/// many as its shape needs.
struct SafetensorsEntry {
  std::string name;
  FileType type;
  Shape shape;
  std::uint64_t begin, end;
};

/// Reads the header's JSON in one pass that keeps nothing of it but the result, so that time is
/// linear (but for sorting names, to find one that stands twice) and the memory a small multiple of
/// the text, whatever the text is. Entries come in the order of the text. `metadata` may be null;
/// otherwise what is found is added to it.
///
/// Throws Error as load_safetensors() does for everything but how the tensors' bytes lie to each
/// other and to the file.
std::vector<SafetensorsEntry> parse_safetensors_header(
    const std::string& path, std::string_view text, std::map<std::string, std::string>* metadata);

}  // namespace ladon
