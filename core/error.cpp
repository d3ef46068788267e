#include "ladon/core/error.h"

namespace ladon::detail {

void throw_error(std::string_view operation, const std::string& message) {
  throw Error(join("[", operation, "] ", message));
}

void require(bool ok, const char* invariant) {
  if (!ok) [[unlikely]]
    throw InternalError(join("internal error in Ladon, please report it: ", invariant));
}

}  // namespace ladon::detail
