#pragma once
// Gram matrices of many inputs, tile by tile.
//
// The kernel of N inputs with T positions each has N²·T² entries, and a layer makes several
// temporaries of that size: 10,000 images of 32 × 32 would need 10¹⁴ numbers per matrix. So the
// cost of a matrix is estimated first, it is computed in tiles whose temporaries stay in the
// caches, and finished tiles can be kept in files.
//
// The result is the same, bit for bit, for any tile and any number of threads or ranks; also with
// stored tiles, if the machine is of the same kind.
//
// If several processes, called ranks, work together (core/extra/ranks/ranks.h), gram() distributes
// its tiles over them, and gives the whole result to each. All ranks call it with the same
// arguments. A checkpoint must then be on a file system that all of them see. Checkpoints and ranks
// are part of ladon_extra, and work in a program that includes "ladon/ladon.h" or calls
// register_executors() (extra/tiles/register.h). In any other program a checkpoint is an Error, and
// each rank computes the whole matrix.

#include <cstdint>
#include <functional>
#include <string>

#include "ladon/layers/infinite/limit.h"

namespace ladon::infinite {

/// Cost of a Gram matrix.
struct GramEstimate {
  std::uint64_t result_bytes = 0;  ///< Bytes of the matrices returned.
  /// Bound of all other memory: the tiles in progress on all threads, and all that tiles share.
  std::uint64_t working_bytes = 0;
  double seconds = 0;      ///< Time on all threads (and ranks), with no tile stored yet.
  std::int64_t tile = 0;   ///< Inputs per side of a tile; the last tile may be smaller.
  std::int64_t tiles = 0;  ///< Tiles to compute.
  bool sampled = false;    ///< Whether a layer's kernels are averages over random draws.

  std::uint64_t bytes() const { return result_bytes + working_bytes; }
  /// One line: "256.0 MB for the result and 12.1 MB of work, about 3.2 s: 136 tiles of …".
  std::string describe() const;
};

/// Progress report. The first is made before anything is allocated, with tiles_done = 0; another
/// follows each tile.
struct GramProgress {
  GramEstimate estimate;
  std::int64_t tiles_done = 0;  ///< Out of estimate.tiles.
  double seconds_left = 0;
};

struct GramOptions {
  /// Get::ntk computes both matrices, Gram::nngp and Gram::ntk; Get::nngp only the first.
  Get get = Get::ntk;
  /// Pairs of positions that are computed, if the model's output has positions.
  Entries entries = Entries::full;
  /// Inputs per side of a tile; for vectors it is rounded up to a multiple of vector_unit. 0 means
  /// as large as the caches and the budget allow.
  std::int64_t tile = 0;
  /// Bytes that the result and the working memory may take together, without the inputs. 0 means
  /// all free memory.
  std::uint64_t memory_budget = 0;
  /// Folder (made if it is missing) in which finished tiles are stored. A later call with the same
  /// inputs, model and options continues from them, also after the process was killed. Only one run
  /// at a time: a second one in the same folder is an Error. gram() does not delete the folder. If
  /// empty, tiles are not stored.
  std::string checkpoint = {};
  /// Approximate seconds of work per file; 0 stands for one tile per file. Must be 10 without a
  /// checkpoint (Error otherwise).
  double checkpoint_seconds = 10;
  /// Called by one thread at a time. Its exceptions end the computation and are rethrown by gram().
  std::function<void(const GramProgress&)> progress = {};
  /// Number of independent estimates that are averaged if a layer averages over random draws
  /// (Limit::draws), at least 2. Their indices begin at limit.replicate().
  int replicates = 8;
};

/// Kernel matrices [N1, N2], or [N1, N2, T, T] (or [N1, N2, T], GramOptions::entries) if the
/// model's output has positions; f64, without autograd history.
struct Gram {
  KernelMatrix nngp;
  KernelMatrix ntk;  ///< Undefined unless requested.
  /// Standard errors of the means over replicates; undefined unless a layer averages over random
  /// draws (Limit::draws).
  Tensor nngp_se, ntk_se;
  /// For each layer that averages over draws, in order: the share of a token's variance that the
  /// landmarks' coordinates do not explain (Limit::unexplained), averaged over the inputs of both
  /// blocks and all replicates, between 0 and 1. Covariances between inputs are too small by up to
  /// this share, which the standard errors do not include. Empty if there is no such layer, if
  /// there are no inputs, and for gram_diagonal(), which pairs no two inputs.
  std::vector<double> unexplained = {};
  /// For each layer that averages over draws, in order: the largest unexplained share of any token
  /// (Limit::most_unexplained).
  std::vector<double> most_unexplained = {};

  /// One line: "closed"; or "drawn, with standard errors of the NNGP kernel up to 0.0012;
  /// coordinates leave out 0% (up to 0%), 26.7% (up to 80.1%) of a token's variance", layer by
  /// layer.
  std::string describe() const;
};

/// Estimates memory and time of gram() with the same arguments, from measurements: it computes
/// blocks of more and more inputs as long as one takes less than about 0.1 s. Their processor time
/// per pair gives `seconds`; their peak memory per pair bounds `working_bytes` (a block's tensors
/// grow no faster than its number of pairs). Layers that average over draws make only some of the
/// draws for this, and their time is scaled up; if there is no such layer, a small matrix is
/// computed as a whole. The kernels of each input with itself are computed once per input, and
/// cached if they take at most a quarter of the budget. This process estimates alone: other ranks
/// need not call it. Throws the Errors of gram().
GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const Inputs& b,
                           const GramOptions& options = {});
GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const GramOptions& options = {});

/// The kernels between all inputs of a and all of b. Throws Error, before it allocates the result,
/// if the memory needed exceeds the budget (the message has both numbers, and the tile that would
/// fit, if there is one), or if the checkpoint holds tiles of another computation or another run is
/// working in it.
Gram gram(const Limit& limit, const Inputs& a, const Inputs& b, const GramOptions& options = {});
/// Gram matrix of a with itself. The tiles on and above the diagonal are computed and mirrored, so
/// that the result is exactly symmetric. On and above the diagonal it has the bits of
/// gram(limit, a, a), except with layers that depend on whether two inputs are the same
/// (Kernel::same).
Gram gram(const Limit& limit, const Inputs& a, const GramOptions& options = {});

/// gram() that computes only the kernels that `get` names.
inline Gram gram(const Limit& limit, const Inputs& a, Get get) {
  return gram(limit, a, GramOptions{.get = get});
}
inline Gram gram(const Limit& limit, const Inputs& a, const Inputs& b, Get get) {
  return gram(limit, a, b, GramOptions{.get = get});
}

/// Kernels of each input with itself: the diagonals of gram(limit, x), [N] (or [N, T, T] …), in
/// time proportional to N. If the model averages over draws, the result fits a Gram matrix only if
/// both use the same landmarks (Limit::with_landmarks). Of the options only get, entries and
/// replicates are used.
Gram gram_diagonal(const Limit& limit, const Inputs& x, const GramOptions& options = {});

}  // namespace ladon::infinite
