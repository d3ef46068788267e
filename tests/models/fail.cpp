#include "ladon/tests/models/fail.h"

#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::int64_t left = 0;  // calls until the one that fails; 0: none does
constinit thread_local bool failed = false;

}  // namespace

void* operator new(std::size_t bytes) {
  if (left > 0 && --left == 0) {
    failed = true;
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
// What std::stable_sort asks for: a sanitizer's own would not be freed by the delete below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ladon::test {

FailingAllocation::FailingAllocation(std::int64_t k) {
  left = k;
  failed = false;
}
FailingAllocation::~FailingAllocation() { left = 0; }
bool FailingAllocation::thrown() const { return failed; }

}  // namespace ladon::test
