#pragma once
// Look-up of a name, such as that of an activation function, in a list of names.

#include <span>
#include <string_view>

namespace ladon {

/// The position of `name` in `names`. Throws Error that lists `names` if `name` is not among them.
std::size_t index_of_name(std::string_view operation, std::string_view name,
                          std::span<const std::string_view> names);

}  // namespace ladon
