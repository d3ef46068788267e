// When OpenBLAS is loaded, it chooses its kernels by the processor's model number. A processor that
// is newer than the library gets the kernels for Prescott, of 2004. Products of doubles then run at
// 15 GFLOP/s on a core that reaches 70 with AVX-512 kernels (0.3.21 of Debian 12, Emerald Rapids).
// So kernels are chosen again, before main, unless OPENBLAS_CORETYPE names a choice.

#include <cblas.h>
#include <stdlib.h>

#include <string_view>

#include "ladon/core/linalg/openblas/one_thread.h"

// These two functions are exported by every OpenBLAS that has kernels for several processors, but
// declared in no header.
extern "C" {
__attribute__((weak)) void gotoblas_dynamic_init();
__attribute__((weak)) void gotoblas_dynamic_quit();
}

namespace ladon::routines {
namespace {

/// Name of the kernels for this processor, up to the level that LADON_ISA sets; null if none fit.
const char* kernels_of_level() {
  const char* wanted = getenv("LADON_ISA");
  const std::string_view level = wanted ? wanted : "v4";
#if defined(__x86_64__)
  if (level == "v4" && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return "SkylakeX";
  if ((level == "v4" || level == "v3") && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return "Haswell";
#endif
  return nullptr;
}

}  // namespace

bool choose_kernels() {
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit || getenv("OPENBLAS_CORETYPE") ||
      openblas_get_corename() != std::string_view("Prescott"))
    return false;
  const char* name = kernels_of_level();
  if (!name || setenv("OPENBLAS_CORETYPE", name, 0) != 0) return false;
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  unsetenv("OPENBLAS_CORETYPE");
  return true;
}

}  // namespace ladon::routines
