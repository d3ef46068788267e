#pragma once
// Options of a pass over pairs of inputs (one evaluation of a limit's graph), and a cache of draws,
// by which gram() lets the limits of attention save work.

#include "ladon/core/modes.h"

namespace ladon::infinite {

class KeptDraws;

/// Processor time of averages over draws in a pass that makes only a few of the draws.
struct PassSample {
  double left_out = 0;   ///< Time that the omitted draws would take.
  double of_inputs = 0;  ///< Time of the work for all draws that is done per input, not per pair.
};

/// Options of a pass over pairs of inputs.
struct PassOptions {
  /// If not null, averages over draws make only the first few draws, and write the estimated time
  /// of the others here. So a pass measures its cost at a fraction of that cost; its kernels must
  /// not be used.
  PassSample* sample = nullptr;
  /// Of pairs between a block and itself, only (n, m) with n ≤ m are used.
  bool upper_triangle = false;
};

/// While a PassScope exists, passes on this thread use its options, and take draws from its cache.
class PassScope : private detail::Scoped<const PassScope*> {
 public:
  explicit PassScope(KeptDraws& kept, const PassOptions& options = {});

  /// The cache of this thread's passes. Null outside of any scope, and while draws are recorded or
  /// replayed (core/random.h), because then every draw must be made.
  static KeptDraws* kept();
  /// The options of this thread's passes; the default options outside of any scope.
  static PassOptions options();

 private:
  KeptDraws& kept_;
  PassOptions options_;
};

/// Processor time of this process in seconds, summed over all its threads.
double processor_seconds();

}  // namespace ladon::infinite
