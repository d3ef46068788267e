#pragma once
// Storage of finished tiles of a Gram matrix in a folder. Internal to gram() and store_gram(). Each
// part (core/extra/io/parts.h) is a file of consecutive tiles; tiles of a damaged part are computed
// again.

#include "ladon/core/extra/io/parts.h"
#include "ladon/layers/infinite/gram/plan.h"

namespace ladon::infinite {

/// Manifest (names and values, core/extra/io/parts.h) that identifies a Gram matrix, symmetric or
/// not, by its inputs and model.
detail::Manifest manifest_of(const Limit& limit, const GramPlan& plan, Get get);

class GramCheckpoint {
 public:
  /// Creates the folder, or continues from its content and removes files of parts that do not fit
  /// its manifest. Throws Error if the manifest is that of another computation, naming the
  /// difference, if another run is working in the folder, or if it cannot be written.
  GramCheckpoint(const Limit& limit, const GramPlan& plan, const GramOptions& options);

  /// Number of tiles in a part; the last part may have fewer.
  std::int64_t part_tiles() const { return part_tiles_; }
  /// Fills the tiles of a part from its file. Returns whether the file exists and is undamaged.
  bool read(std::int64_t part, Gram& result) const;
  void write(std::int64_t part, const Gram& result) const;

  /// Side of the tiles that a folder contains; 0 if it contains none.
  static std::int64_t stored_tile(const std::string& folder);

 private:
  /// Index of a part's first tile.
  std::int64_t first_of(std::int64_t part) const;
  /// Calls f(row, bytes) for each row of a part's tiles in each defined matrix of `result`.
  template <class F>
  void for_each(std::int64_t part, const Gram& result, const F& f) const;
  std::uint64_t payload_of(std::int64_t part, const Gram& result) const;

  const GramPlan& plan_;
  detail::PartFolder folder_;
  std::int64_t part_tiles_ = 0;
};

}  // namespace ladon::infinite
