#include "ladon/core/io/json.h"

#include "ladon/core/error.h"
#include "ladon/core/io/utf8.h"

namespace ladon {

using nlohmann::json;

nlohmann::json parse_json(const char* operation, const std::string& path, std::string_view text) {
  constexpr int deepest = 16;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    LADON_CHECK(depth <= deepest, operation, path, ": the JSON nests deeper than ", deepest,
                " levels");
    return true;
  };
  try {
    return json::parse(text, shallow);
  } catch (const json::exception& error) {
    detail::fail(operation, path, ": is not JSON: ", shortened(error.what(), 200));
  }
}

const nlohmann::json& json_at(const nlohmann::json& object, const char* key) {
  static const json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

}  // namespace ladon
