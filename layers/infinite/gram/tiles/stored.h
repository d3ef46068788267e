#pragma once
// A Gram matrix that nobody holds whole: its tiles lie in a folder, or in the memory of many ranks
// (core/ranks/ranks.h), each in that of one.
//
// N inputs have N(N + 1)/2 pairs: 30,000 take 3.6 GB as f64, 100,000 take 40 GB. What is done with
// such a matrix takes it tile by tile: products with a few vectors
// (optim/posterior/solvers/cg_solver.h), or a factor that is on disk as well
// (optim/posterior/solvers/stored_factor.h), or in the memory of the ranks
// (optim/posterior/solvers/distributed_factor.h).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ladon/layers/infinite/limit.h"

namespace ladon::infinite {

/// Cost of storing a Gram matrix.
struct StoredGramEstimate {
  std::uint64_t disk_bytes = 0;    ///< Of all tiles; 0 where they are in memory.
  std::uint64_t memory_bytes = 0;  ///< At most, beside the inputs and the operands of multiply().
  double seconds = 0;              ///< On all threads, with nothing stored yet and a fast disk.
  std::int64_t tile = 0;           ///< Inputs a side of a tile; the last may be smaller.
  std::int64_t tiles = 0;          ///< On and above the diagonal.

  /// One line: "3.6 GB on disk and 140.1 MB of memory, about 52 s: 120 tiles of …"; of tiles in
  /// memory without the disk.
  std::string describe() const;
};

/// Told once before anything is computed, and after each tile.
struct StoredGramProgress {
  StoredGramEstimate estimate;
  std::int64_t tiles_done = 0;  ///< Out of estimate.tiles.
  double seconds_left = 0;
};

struct StoredGramOptions {
  /// Which kernel is stored. No default: GaussianProcess needs nngp, gradient descent ntk.
  std::optional<Get> get = {};
  DType dtype = f64;  ///< Of stored tiles, f64 or f32. What is computed is f64 in any case.
  /// Inputs a side, rounded up to a multiple of vector_unit. 0: that of the folder, or such that
  /// a dozen tiles fit in the budget, 2048 at most. In memory 512 at most in any case
  /// (ranks::largest_block).
  std::int64_t tile = 0;
  /// Bytes that tiles and their computation may take together, beside the inputs. Tiles that fit
  /// are kept in memory for the next use. 0: what the machine has free.
  std::uint64_t memory_budget = 0;
  /// Its exceptions end the computation and come out of store_gram().
  std::function<void(const StoredGramProgress&)> progress = {};
  int replicates = 8;  ///< Number whose mean is stored, at least 2, if a layer samples.
};

/// A symmetric matrix [N, N], f64, of which the tiles on and above the diagonal are stored. It
/// holds the folder's lock. Every tile that is read is checked; a damaged one is an Error, and
/// store_gram() computes it again. Tiles in memory are in that of the rank that computed them
/// (ranks::holder of the transposed tile). To be used by one thread at a time.
class StoredGram {
 public:
  StoredGram(StoredGram&&) noexcept;
  StoredGram& operator=(StoredGram&&) noexcept;
  ~StoredGram();

  std::int64_t size() const;
  Get kind() const;     ///< Which kernel it is.
  DType dtype() const;  ///< Of the stored tiles.
  const StoredGramEstimate& estimate() const;
  /// Checksum of inputs, model and tiles, by which files made from this matrix recognize it.
  std::uint64_t identity() const;

  Tensor diagonal() const;  ///< [N]
  /// Rows [begin, end), [end − begin, N]. Takes all tiles that they cross; of tiles in memory all
  /// ranks together, each its own.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// K·V.   [N, k] → [N, k], of any floating dtype → f64. Each tile is read once, the next one
  /// while this one is multiplied; the result has the same bits at any number of threads. All ranks
  /// multiply together, each by a share of the tiles, which it keeps where they fit: the result is
  /// that of one process to rounding, and the same in all of them.
  Tensor multiply(const Tensor& v) const;

  /// Tiles a side.
  std::int64_t across() const;
  /// The first input of tile row i; first(across()) is N.
  std::int64_t first(std::int64_t i) const;
  /// Rows of tile row i by columns of tile column j; in memory of its own unless it is kept. Throws
  /// Error for a tile in the memory of another rank.
  Tensor tile(std::int64_t i, std::int64_t j) const;

 private:
  friend StoredGram store_gram(const Limit&, const Inputs&, const std::string&,
                               const StoredGramOptions&);
  struct State;
  explicit StoredGram(std::unique_ptr<State> state);
  State& state() const;  // throws Error where it was moved from
  std::unique_ptr<State> state_;
};

/// Cost of store_gram() with the same arguments for this process alone; `folder` may hold tiles of
/// it. Throws Error as store_gram() does for inputs, model and budget.
StoredGramEstimate estimate_stored_gram(const Limit& limit, const Inputs& x,
                                        const std::string& folder = {},
                                        const StoredGramOptions& options = {});

/// Computes the Gram matrix of x, with the bits of gram(limit, x, …) (as f32: rounded), into
/// `folder`, which is made if it is missing; tiles that are there, of an earlier run that was ended
/// or killed, are checked and taken up. Ranks (core/ranks/ranks.h) share the tiles out, and the
/// folder, on a file system that all of them see. The caller removes the folder. Without a folder
/// each rank keeps its tiles in memory, about 4·N²/count() bytes of f64, and nothing is sent but
/// the diagonal. Throws Error if options.get is not said, the model ends with positions, the memory
/// needed is over the budget, the disk has no room for the tiles, the folder is of another
/// computation, another run is working in it, or ranks compute different things.
StoredGram store_gram(const Limit& limit, const Inputs& x, const std::string& folder = {},
                      const StoredGramOptions& options = {});

}  // namespace ladon::infinite
