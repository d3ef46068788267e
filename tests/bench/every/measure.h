#pragma once
// Timing of a row beside its peer and beside what the machine reaches.

#include <vector>

#include "peer.h"

namespace ladon::bench::every {

struct Measured {
  Row row;
  double ours = 0, theirs = 0;  ///< Seconds of a call; theirs 0: no peer.
  int peer_threads = 0;         ///< With which the peer is faster.
  double share = 0;             ///< Of what the machine reaches; 0: nothing bounds it.

  double ratio() const { return theirs > 0 ? theirs / ours : 0; }
};

/// Medians of `rounds` in turns, ours and then the peer's; of the peer also on one thread, and the
/// better one counts. On one thread the processor time of the process is measured, which other
/// programs disturb little; on several the clock's. A round is one call, or as many as take a
/// millisecond.
Measured measure(const Row& row, const Call& call, const std::optional<Peer>& peer,
                 const Work& work, int threads, int rounds);

}  // namespace ladon::bench::every
