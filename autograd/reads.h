#pragma once
// Record of the tensors that a computation reads but did not make, so that checkpoint() can check
// that its second run reads the same ones.

#include <cstdint>
#include <map>
#include <vector>

#include "ladon/autograd/record.h"
#include "ladon/core/modes.h"

namespace ladon::detail {

/// A tensor as it was when it was read.
struct Read {
  Saved tensor;
  bool trained;  ///< Whether it was a leaf that required a gradient.
};

/// While alive on this thread, records those inputs of operations that existed before it: trained
/// tensors, results of earlier operations, constants. Results of the computation itself are left
/// out; those without history are dropped once nobody else holds them.
class RecordReads : private Scoped<RecordReads*> {
 public:
  /// Nodes numbered from `first` on belong to the computation itself.
  explicit RecordReads(std::uint64_t first) : Scoped(modes.watchers.reads, this), first_(first) {}

  void note(const Tensor& x);
  /// Each tensor read that has another owner too and that the computation did not edit itself. To
  /// be called after the results of the computation are destroyed.
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
};

}  // namespace ladon::detail
