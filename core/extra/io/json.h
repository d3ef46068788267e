#pragma once
// Reader of JSON with few levels of nesting, such as configurations and vocabularies. Only .cpp
// files may include this header, so that no public header includes nlohmann's.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ladon {

/// Parses a JSON text. Throws Error, naming operation and path, for text that is not JSON, nests
/// deeper than 16 levels, or has a key twice in one object. Time and memory are proportional to the
/// length of the text (except for the look-up of keys).
nlohmann::json parse_json(const char* operation, const std::string& path, std::string_view text);

/// Value of the key; null if there is no such key, or `object` is not an object.
const nlohmann::json& json_at(const nlohmann::json& object, const char* key);

}  // namespace ladon
