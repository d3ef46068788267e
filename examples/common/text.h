#pragma once
// Texts of results and scripts.

#include "ladon/core/error.h"

namespace ladon::example {

/// join(parts…) prints its arguments, one after the other, into a string.
using detail::join;

}  // namespace ladon::example
