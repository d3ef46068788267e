#pragma once
// Check for options that are set but have no effect, for authors of layers and optimizers.

#include <type_traits>

#include "ladon/core/error.h"

namespace ladon::detail {

/// Throws Error if the value of an option differs from `usual`, its default. To be called where the
/// other options have such values that nothing reads this one. `why` ends the sentence "OPTION is
/// VALUE, but …" and says what to set instead. An option needs no check if its value asks for what
/// happens anyway, nor if it is unread at one end of a number's range only, such as the kernel of
/// particles without repulsion (α = 0): a study may vary that number, all else being equal.
template <class Value>
void check_unread(std::string_view operation, const char* option, const Value& value,
                  const std::type_identity_t<Value>& usual, const char* why) {
  LADON_CHECK(value == usual, operation, option, " is ", value, ", but ", why, ", or leave ",
              option, " at ", usual);
}

}  // namespace ladon::detail
