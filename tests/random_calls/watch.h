#pragma once
// Watches one call: whatever ends the process tells first which call it was.

#include <string>

#include "draw.h"
#include "run.h"

namespace ladon::test {

/// "call 17 of seed 1: softmax: f32 [2]; 3 (random_calls --seed=1 --only=17)".
std::string how_to_repeat(const RunOptions& options, std::int64_t number, const Draw& draw);

/// While one is alive a signal (a segmentation fault, a division by zero, an abort) and the report
/// of a sanitizer are followed by how to repeat the call, and so is a call that takes five times
/// the processor time that it may.
class Watch {
 public:
  Watch(std::int64_t number, const RunOptions& options, const Draw& draw);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Processor time since the beginning, of all threads.
  double seconds() const;

 private:
  double begin_;
};

/// Makes memory short, as on a small machine, since a call may ask for any size: 512 MB for the
/// process above what products need; with sanitizers 64 MB for one piece.
void limit_memory();

}  // namespace ladon::test
