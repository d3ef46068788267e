#pragma once
// Hash map with string keys that are looked up without a copy.

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ladon::detail {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// Hash map from strings to values, whose find() accepts a string_view.
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

}  // namespace ladon::detail
