#pragma once
// What gram() knows of a pass over pairs of inputs, and the limits of attention use to save work.

#include "ladon/core/modes.h"

namespace ladon::infinite {

class KeptDraws;

/// Processor time of averages over draws in a pass that takes only a few of them.
struct PassSample {
  double left_out = 0;   ///< Time that the others would take.
  double of_inputs = 0;  ///< Time of all draws of what is done per input, not per pair.
};

/// How a pass over pairs is made.
struct PassOptions {
  /// Not null: averages over draws take only the first few, and tell the time of the others here.
  /// So a pass tells its cost for a fraction of it; its kernels are of no use.
  PassSample* sample = nullptr;
  /// Of pairs between a block and itself, only (n, m) with n ≤ m are used.
  bool upper_triangle = false;
};

/// While one is alive, passes on this thread are made with these options, and draw from a cache.
class PassScope : private detail::Scoped<const PassScope*> {
 public:
  explicit PassScope(KeptDraws& kept, const PassOptions& options = {});

  /// The cache of this thread's passes; null without one, and while draws are recorded or replayed
  /// (core/random.h), for which each must be made.
  static KeptDraws* kept();
  /// The options of this thread's passes; outside of any scope the default.
  static PassOptions options();

 private:
  KeptDraws& kept_;
  PassOptions options_;
};

/// Processor time of this process, of all threads.
double processor_seconds();

}  // namespace ladon::infinite
