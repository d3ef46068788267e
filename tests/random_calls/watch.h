#pragma once
// Watches a call: if it ends the process, the process first prints which call it was.

#include <string>

#include "draw.h"
#include "run.h"

namespace ladon::test {

/// Description of a call and the command that repeats it: "call 17 of seed 1: softmax: f32 [2]; 3
/// (random_calls --seed=1 --only=17)".
std::string how_to_repeat(const RunOptions& options, std::int64_t number, const Draw& draw);

/// While such an object exists, how_to_repeat() is printed after a signal (segmentation fault,
/// division by zero, abort) and after a sanitizer's report, and if the call takes five times the
/// processor time that it may.
class Watch {
 public:
  Watch(std::int64_t number, const RunOptions& options, const Draw& draw);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Processor time of all threads since construction.
  double seconds() const;

 private:
  double begin_;
};

/// Limits memory as on a small machine, since a call may ask for any size: to 512 MB for the
/// process in addition to the buffers of matrix products; with sanitizers, to 64 MB per allocation.
void limit_memory();

}  // namespace ladon::test
