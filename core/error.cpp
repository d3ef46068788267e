#include "ladon/core/error.h"

namespace ladon {

void fail(std::string_view operation, const std::string& message) {
  throw Error(concat("[", operation, "] ", message));
}

void require(bool ok, const char* invariant) {
  if (!ok) [[unlikely]]
    throw InternalError(concat("internal error in Ladon, please report it: ", invariant));
}

}  // namespace ladon
