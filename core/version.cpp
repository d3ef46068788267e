#include "ladon/core/version.h"

namespace ladon {

const char* version() { return LADON_VERSION; }

}  // namespace ladon
