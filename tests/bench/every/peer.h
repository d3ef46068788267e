#pragma once
// The other library's side of a row: LibTorch's operation of the same mathematics, or none.

#include <functional>
#include <optional>
#include <string>

#include "row.h"

namespace ladon::bench::every {

struct Peer {
  std::function<void()> run;
  /// Runs and gives the largest difference from our results, relative to the largest number;
  /// infinity where they do not go together. The first `count` results are compared; 0: all.
  std::function<double(const Tensors& ours, int count)> difference;
};

/// On copies of the call's inputs in their layout, taken before the call ran; forward in inference
/// mode. None where the list has no such entry, or the program was built without LibTorch.
std::optional<Peer> peer_of(const Row& row, const Call& call);
/// "LibTorch 2.6.0, …"; empty: none.
std::string peer_name();

/// Before calls of ours and before calls of the peer, which share one OpenBLAS.
void turn_to_ours(int threads);
void turn_to_peer(int threads);

}  // namespace ladon::bench::every
