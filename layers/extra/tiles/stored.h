#pragma once
// A Gram matrix that no process holds whole: its tiles are in a folder, or in the memory of several
// ranks (core/extra/ranks/ranks.h), each tile in the memory of one rank.
//
// N inputs have N(N + 1)/2 pairs: 30,000 take 3.6 GB as f64, 100,000 take 40 GB. Such a matrix is
// used tile by tile: in products with a few vectors (optim/extra/posterior/cg_solver.h), or for a
// Cholesky factor that is also on disk (optim/extra/posterior/stored_factor.h), or in the memory of
// the ranks (optim/extra/posterior/distributed_factor.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ladon/layers/infinite/limit.h"

namespace ladon::infinite {

/// Cost of storing a Gram matrix.
struct StoredGramEstimate {
  std::uint64_t disk_bytes = 0;    ///< Bytes of all tiles; 0 if they are in memory.
  std::uint64_t memory_bytes = 0;  ///< Peak memory, without inputs and operands of multiply().
  double seconds = 0;              ///< Time on all threads, with no tile stored and a fast disk.
  std::int64_t tile = 0;           ///< Inputs per side of a tile; the last tile may be smaller.
  std::int64_t tiles = 0;          ///< Number of tiles on and above the diagonal.

  /// One line: "3.6 GB on disk and 140.1 MB of memory, about 52 s: 120 tiles of …"; without the
  /// disk for tiles in memory.
  std::string describe() const;
};

/// Progress of store_gram(), reported once before anything is computed, and after each tile.
struct StoredGramProgress {
  StoredGramEstimate estimate;
  std::int64_t tiles_done = 0;  ///< Out of estimate.tiles.
  double seconds_left = 0;
};

struct StoredGramOptions {
  /// The kernel that is stored. It has no default: GaussianProcess needs nngp, gradient descent
  /// needs ntk.
  std::optional<Get> get = {};
  DType dtype = f64;  ///< Dtype of stored tiles, f64 or f32. Computation is always in f64.
  /// Inputs per side of a tile, rounded up to a multiple of vector_unit. 0 means the tile size in
  /// the folder; for a new folder, the largest size, at most 2048, with which a dozen tiles fit in
  /// the budget. For tiles in memory at most 512 (ranks::largest_block).
  std::int64_t tile = 0;
  /// Bytes that tiles and their computation may take together, without the inputs. As many tiles as
  /// fit are kept in memory for the next use. 0 means all free memory.
  std::uint64_t memory_budget = 0;
  /// Called with the progress. Its exceptions end the computation, and store_gram() passes them on.
  std::function<void(const StoredGramProgress&)> progress = {};
  /// If a layer averages over random draws, the mean of this many independent estimates is stored;
  /// at least 2.
  int replicates = 8;
};

/// A symmetric matrix [N, N], f64, of which only tiles on and above the diagonal are stored. It
/// holds the folder's lock. Every tile that is read is verified; a damaged one is an Error, and
/// store_gram() computes it again. A tile in memory is held by the rank that computed it, the one
/// that holds the same block of a distributed Cholesky factor (ranks::holder). Use the matrix from
/// one thread at a time.
class StoredGram {
 public:
  StoredGram(StoredGram&&) noexcept;
  StoredGram& operator=(StoredGram&&) noexcept;
  ~StoredGram();

  std::int64_t size() const;
  Get kind() const;     ///< The kernel: nngp or ntk.
  DType dtype() const;  ///< Dtype of the stored tiles.
  const StoredGramEstimate& estimate() const&;
  StoredGramEstimate estimate() &&;
  /// Checksum of inputs, model and tiles, which identifies this matrix in files made from it.
  std::uint64_t identity() const;

  Tensor diagonal() const;  ///< [N]
  /// Rows [begin, end), [end − begin, N]. Reads all tiles that they cross. For tiles in memory all
  /// ranks must call it, and each uses its own tiles.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// K·V for this matrix K and vectors V:  [N, k] of any floating dtype → [N, k] f64. Each tile is
  /// read once, while the previous one is multiplied; the result is bitwise the same with any
  /// number of threads. All ranks multiply together, each with a part of the tiles, which it keeps
  /// in memory if they fit: the result equals that of one process up to rounding, and is the same
  /// in all ranks.
  Tensor multiply(const Tensor& v) const;

  /// Number of tiles per side.
  std::int64_t across() const;
  /// The first input of tile row i; first(across()) is N. Throws Error for any other i.
  std::int64_t first(std::int64_t i) const;
  /// The tile in tile row i and tile column j, f64; in new memory unless the tile is kept. Throws
  /// Error for a tile in the memory of another rank.
  Tensor tile(std::int64_t i, std::int64_t j) const;

 private:
  friend StoredGram store_gram(const Limit&, const Inputs&, const std::string&,
                               const StoredGramOptions&);
  struct State;
  explicit StoredGram(std::unique_ptr<State> state);
  State& state() const;  // throws Error if this was moved from
  std::unique_ptr<State> state_;
};

/// Cost of store_gram() with the same arguments, for this process alone; `folder` may already hold
/// tiles. Throws Error for inputs, a model or a budget that store_gram() rejects.
StoredGramEstimate estimate_stored_gram(const Limit& limit, const Inputs& x,
                                        const std::string& folder = {},
                                        const StoredGramOptions& options = {});

/// Computes the Gram matrix of x, bitwise equal to gram(limit, x, …) (rounded if stored as f32),
/// and stores it in `folder`, which is created if it is missing; tiles of an earlier run that was
/// ended or killed are verified and reused. Ranks (core/extra/ranks/ranks.h) share the computation
/// of tiles, and the folder, which must be on a file system that all of them see. The caller
/// removes the folder. Without a folder each rank keeps its tiles in memory, about
/// 4·N²/ranks::count() bytes of f64, and only the diagonal is sent. Throws Error if options.get is
/// not set, the model ends with positions, the memory needed exceeds the budget, the disk has no
/// room for the tiles, the folder belongs to another computation, another run is working in it, or
/// ranks call it with different arguments.
StoredGram store_gram(const Limit& limit, const Inputs& x, const std::string& folder = {},
                      const StoredGramOptions& options = {});

}  // namespace ladon::infinite
