#include "ladon/tests/folders.h"

namespace ladon::test {

const char* source_folder() { return LADON_SOURCE_DIR; }

}  // namespace ladon::test
