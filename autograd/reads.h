#pragma once
// Reads of a computation from outside of it, so that one that is run again (checkpoint) can say
// whether it finds what it found before.

#include <cstdint>
#include <map>
#include <vector>

#include "ladon/autograd/record.h"

namespace ladon::detail {

class RecordReads;
/// The innermost one of this thread; null outside of all.
inline constinit thread_local RecordReads* reading = nullptr;

/// A tensor as it was when it was read.
struct Read {
  Saved tensor;
  bool trained;  ///< Whether it was a leaf that required a gradient.
};

/// Notes, while it is alive on this thread, the inputs of operations that were there before:
/// trained tensors, results of earlier operations, and constants. What was computed from them
/// meanwhile is left out where a gradient passes through it, and given up where nobody holds it at
/// the end.
class RecordReads {
 public:
  /// Nodes numbered from `first` on are of the computation itself.
  explicit RecordReads(std::uint64_t first) : first_(first), outer_(reading) { reading = this; }
  ~RecordReads() { reading = outer_; }
  RecordReads(const RecordReads&) = delete;
  RecordReads& operator=(const RecordReads&) = delete;

  void note(const Tensor& x);
  /// Each tensor that somebody else holds, too, and that the computation did not edit itself. To be
  /// asked when its own results are gone.
  std::vector<Read> found();

 private:
  struct Entry {
    Tensor tensor;
    std::uint32_t version;
    bool trained;
  };
  void forget_own();

  std::map<const std::byte*, Entry> entries_;  // by storage
  std::size_t room_ = 32;                      // entries before the next forget_own()
  std::uint64_t first_;
  RecordReads* outer_;
};

}  // namespace ladon::detail
