#pragma once
// Record of the tensors that a computation reads but did not create, so that checkpoint() can check
// that its second run reads the same tensors, unedited.

#include <cstdint>
#include <map>
#include <vector>

#include "ladon/autograd/record.h"
#include "ladon/core/modes.h"

namespace ladon::detail {

/// A tensor that was read, with its version at that time (Saved).
struct Read {
  Saved tensor;
  bool trained;  ///< Whether it was a leaf that required a gradient.
};

/// While such an object is alive on this thread, it records those inputs of operations that existed
/// before the object: trained tensors, results of earlier operations, constants. Results of the
/// computation itself are left out; those without history cannot be recognized at once, and are
/// removed from the record once no other tensor shares their memory.
class RecordReads : private Scoped<RecordReads*> {
 public:
  /// Nodes numbered from `first` on belong to the computation itself.
  explicit RecordReads(std::uint64_t first) : Scoped(modes.watchers.reads, this), first_(first) {}

  void note(const Tensor& x);
  /// The recorded tensors, without those whose memory nothing else owns (results of the computation
  /// itself) and without those that the computation edited. Call it after the results of the
  /// computation are destroyed.
  std::vector<Read> found();

 private:
  struct Entry {
    Tensor tensor;
    std::uint32_t version;
    bool trained;
  };
  void forget_own();

  std::map<const std::byte*, Entry> entries_;  // by address of the storage
  std::size_t room_ = 32;                      // number of entries at which forget_own() is called
  std::uint64_t first_;
};

}  // namespace ladon::detail
