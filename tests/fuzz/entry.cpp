// Entry point of libFuzzer, for the target LADON_FUZZ_TARGET.

#include <cstddef>
#include <cstdint>

#include "ladon/tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ladon::fuzz::Target& target = ladon::fuzz::target(LADON_FUZZ_TARGET);
  ladon::fuzz::attempt(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}
