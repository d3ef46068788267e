#pragma once
// Finished tiles of a Gram matrix in a folder. Internal to gram.cpp.
//
// manifest.txt says what is computed and how it is cut; part_000000.bin, … hold consecutive tiles
// each. Every file is written beside its place and renamed, so that it is whole or not there; a
// checksum finds one that was damaged since, and its tiles are computed again. While a run works in
// the folder, a lock keeps others out.

#include "ladon/core/io/file.h"
#include "ladon/layers/infinite/gram/plan.h"

namespace ladon::infinite {

class GramCheckpoint {
 public:
  /// Begins the folder, or takes up what is in it and removes parts that are not of this manifest.
  /// Throws Error if it belongs to another computation, naming the difference, if another run is
  /// working in it, or if it cannot be written.
  GramCheckpoint(const Limit& limit, const GramPlan& plan, const GramOptions& options);

  /// Tiles in a part; the last may hold fewer.
  std::int64_t part_tiles() const { return part_tiles_; }
  /// Fills the tiles of a part, and returns true, if its file is there and undamaged.
  bool read(std::int64_t part, Gram& result) const;
  void write(std::int64_t part, const Gram& result) const;

  /// The side of the tiles in a folder; 0 if it holds none.
  static std::int64_t stored_tile(const std::filesystem::path& folder);

 private:
  std::string path_of(std::int64_t part) const;
  /// The first tile of a part.
  std::int64_t first_of(std::int64_t part) const;
  /// Calls f(matrix, rows) for each tile of a part and each matrix that there is.
  template <class G, class F>
  void for_each(std::int64_t part, G& result, const F& f) const;
  std::uint64_t payload_of(std::int64_t part, const Gram& result) const;
  void remove_other_parts() const;

  const GramPlan& plan_;
  std::filesystem::path folder_;
  FolderLock lock_;
  std::int64_t part_tiles_ = 0;
  std::uint64_t identity_ = 0;  // of the manifest; stands in every part
};

}  // namespace ladon::infinite
