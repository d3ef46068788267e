#include "ladon/core/kernels/loops.h"

#include <cstdlib>
#include <string>
#include <string_view>

#include "ladon/core/error.h"

namespace ladon::kernels {

#if defined(__x86_64__)
namespace x86_64_v2 {
const Loops& table();
}
namespace x86_64_v3 {
const Loops& table();
}
namespace x86_64_v4 {
const Loops& table();
}

Levels levels() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  Levels found{{{"v2", &x86_64_v2::table()}}, 1};
  if (v3) found.list[found.count++] = {"v3", &x86_64_v3::table()};
  if (v4) found.list[found.count++] = {"v4", &x86_64_v4::table()};
  return found;
}
#else
namespace native {
const Loops& table();
}

Levels levels() { return {{{"native", &native::table()}}, 1}; }
#endif

namespace {

const Loops& choose() {
  const Levels found = levels();
  const char* wanted = std::getenv("LADON_ISA");
  if (!wanted || !*wanted) return *found.list[found.count - 1].loops;
  std::string names;
  for (const Level& level : found) {
    if (level.name == std::string_view(wanted)) return *level.loops;
    names += std::string(names.empty() ? "" : ", ") + level.name;
  }
  detail::fail("loops",
               "the environment variable LADON_ISA must name an instruction level of this "
               "processor, but is '",
               wanted, "'; choose one of ", names);
}

}  // namespace

const Loops& loops() {
  static const Loops& chosen = choose();
  return chosen;
}

int level_in_use() {
  const Levels found = levels();
  int at = 0;
  while (found.list[at].loops != &loops()) ++at;
  return at;
}

bool has_bf16_products() {
#if defined(__x86_64__)
  static const bool has =
      loops().gemm_of_bf16.multiply != nullptr && __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

}  // namespace ladon::kernels
