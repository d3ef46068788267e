#pragma once
// Timing of a row, compared with the other library (peer) and with the speed that the machine
// reaches.

#include <vector>

#include "peer.h"

namespace ladon::bench::every {

struct Measured {
  Row row;
  double ours = 0, theirs = 0;  ///< Seconds per call; `theirs` 0: no peer.
  int peer_threads = 0;         ///< Number of threads with which the peer is faster.
  double share = 0;             ///< Share of the machine's peak; 0: no peak applies.

  double ratio() const { return theirs > 0 ? theirs / ours : 0; }
};

/// Median times of `rounds` rounds, in turns of Ladon and the peer. The peer is also measured on
/// one thread, and its better time counts. On one thread the processor time of the process is
/// measured, which other programs disturb little; on several threads wall-clock time. A round is
/// one call, or as many calls as take a millisecond.
Measured measure(const Row& row, const Call& call, const std::optional<Peer>& peer,
                 const Work& work, int threads, int rounds);

}  // namespace ladon::bench::every
