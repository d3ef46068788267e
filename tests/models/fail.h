#pragma once
// Memory that runs out where a test wants it to.

#include <cstdint>

namespace ladon::test {

/// While one is alive, the k-th call of operator new on this thread throws std::bad_alloc, once.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t k);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  /// Whether it has thrown.
  bool thrown() const;
};

}  // namespace ladon::test
