#pragma once
// The peer of a row: LibTorch's operation that computes the same function, if there is one.

#include <functional>
#include <optional>
#include <string>

#include "row.h"

namespace ladon::bench::every {

struct Peer {
  std::function<void()> run;
  /// Runs the operation and returns its largest difference from Ladon's results, relative to the
  /// largest number; infinity if numbers or shapes of results differ. Only the first `count`
  /// results are compared; 0: all.
  std::function<double(const Tensors& ours, int count)> difference;
};

/// The peer of a row. It computes on copies of the call's inputs in the same memory layout, taken
/// before the call ran; forward rows run in inference mode. Nothing if PeerTable has no such entry,
/// or the program was built without LibTorch.
std::optional<Peer> peer_of(const Row& row, const Call& call);
/// Name and version of the other library, "LibTorch 2.6.0, …"; empty without one.
std::string peer_name();

/// Set the number of threads for the calls that follow: turn_to_ours() for calls of Ladon,
/// turn_to_peer() for calls of the peer. Both are needed, since both libraries use one OpenBLAS.
void turn_to_ours(int threads);
void turn_to_peer(int threads);

}  // namespace ladon::bench::every
