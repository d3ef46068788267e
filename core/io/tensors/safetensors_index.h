#pragma once
// The index of a checkpoint in several safetensors files. Internal to safetensors.cpp.

#include <map>
#include <string>
#include <string_view>

namespace ladon {

/// File name of each tensor.
using ShardMap = std::map<std::string, std::string>;

/// Reads {"weight_map": {"tensor": "file", …}, …}; other keys may hold any values, nested up to a
/// depth of 16. Throws Error, naming `path`, for text of another form, for a repeated key of the
/// map, and for a file name that leads to another folder.
ShardMap parse_shard_index(const std::string& path, std::string_view text);

}  // namespace ladon
