#pragma once
// Checks that operations share.

#include <initializer_list>
#include <string_view>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"

namespace ladon {

/// Throws Error where an operand is an undefined tensor.
inline void check_defined(std::string_view operation, std::initializer_list<Input> operands) {
  for (const Input& x : operands) check(x.tensor->defined(), operation, "an operand is undefined");
}

}  // namespace ladon
