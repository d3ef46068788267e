#pragma once
// What an object owns by a pointer, and has no more once it was moved from.

#include <string_view>

#include "ladon/core/error.h"

namespace ladon::detail {

/// What the pointer points to. Throws Error where it is null: its owner was moved from.
template <class Pointer>
auto& held(std::string_view owner, const Pointer& pointer) {
  LADON_CHECK(pointer != nullptr, owner,
              "has nothing any more: it was moved from; use what it was moved to");
  return *pointer;
}

}  // namespace ladon::detail
