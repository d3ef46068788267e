#include "ladon/core/names.h"

#include <algorithm>
#include <string>

#include "ladon/core/error.h"

namespace ladon {

std::size_t index_of_name(std::string_view operation, std::string_view name,
                          std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::string list;
    for (const std::string_view one : names) list += (list.empty() ? "" : ", ") + std::string(one);
    detail::fail(operation, "unknown name `", name, "`; choose one of ", list);
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace ladon
