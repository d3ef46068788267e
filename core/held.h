#pragma once
// Access to an object behind a pointer that is null once its owner was moved from.

#include <string_view>

#include "ladon/core/error.h"

namespace ladon::detail {

/// The object behind the pointer. Throws Error if it is null, because its owner was moved from.
template <class Pointer>
auto& held(std::string_view owner, const Pointer& pointer) {
  LADON_CHECK(pointer != nullptr, owner,
              "is empty: it was moved from; use the object that it was moved to");
  return *pointer;
}

}  // namespace ladon::detail
