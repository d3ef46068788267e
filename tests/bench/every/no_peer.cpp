// For a build without LibTorch: no row has a peer, so rows are compared only with the machine's
// peaks.

#include "ladon/core/machine/parallel.h"
#include "peer.h"

namespace ladon::bench::every {

std::optional<Peer> peer_of(const Row&, const Call&) { return {}; }
std::string peer_name() { return {}; }
void turn_to_ours(int threads) { set_num_threads(threads); }
void turn_to_peer(int) {}

}  // namespace ladon::bench::every
