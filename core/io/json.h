#pragma once
// JSON of a few levels: configurations, vocabularies. Internal to sources, which alone see
// nlohmann's header.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ladon {

/// The value that the text is. Throws Error, naming operation and path, for text that is not JSON,
/// nests deeper than 16 levels, or has a key twice in one object. Takes time and memory in
/// proportion to the text (but for the search of keys).
nlohmann::json parse_json(const char* operation, const std::string& path, std::string_view text);

/// Value of the key; null where there is no such key, or `object` is none.
const nlohmann::json& json_at(const nlohmann::json& object, const char* key);

}  // namespace ladon
