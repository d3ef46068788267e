#include "ladon/core/extra/kernels/loops/recurrent.h"
#include "ladon/core/kernels/loops.h"

namespace ladon::kernels {

#if defined(__x86_64__)
namespace x86_64_v2 {
const RecurrentTable& recurrent_table();
}
namespace x86_64_v3 {
const RecurrentTable& recurrent_table();
}
namespace x86_64_v4 {
const RecurrentTable& recurrent_table();
}

namespace {
constexpr const RecurrentTable& (*tables[])() = {
    x86_64_v2::recurrent_table, x86_64_v3::recurrent_table, x86_64_v4::recurrent_table};
}
#else
namespace native {
const RecurrentTable& recurrent_table();
}

namespace {
constexpr const RecurrentTable& (*tables[])() = {native::recurrent_table};
}
#endif

const RecurrentTable& recurrent_loops() {
  static const RecurrentTable& chosen = tables[level_in_use()]();
  return chosen;
}

}  // namespace ladon::kernels
