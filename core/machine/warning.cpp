#include "ladon/core/machine/warning.h"

#include <iostream>

#include "ladon/core/error.h"

namespace ladon::detail {

void warn(std::string_view operation, std::string_view text) {
  std::cerr << join("ladon: [", operation, "] ", text, "\n");
}

}  // namespace ladon::detail
