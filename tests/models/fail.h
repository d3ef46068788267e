#pragma once
// An allocation that fails at a moment that the test chooses.

#include <cstdint>

namespace ladon::test {

/// While such an object exists, the k-th call of operator new on its thread throws std::bad_alloc,
/// once.
class FailingAllocation {
 public:
  explicit FailingAllocation(std::int64_t k);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  /// Whether that call has occurred.
  bool thrown() const;
};

}  // namespace ladon::test
