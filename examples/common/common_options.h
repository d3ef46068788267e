#pragma once
// Options that all examples have.

#include <cstdint>
#include <filesystem>

namespace ladon::example {

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;             ///< 0: as many as there are cores.
  bool panels = false;         ///< Also write each panel of a picture to a separate file.
  std::filesystem::path out;   ///< Folder for pictures and data.
  std::filesystem::path json;  ///< File for all numbers of the tables; empty: not written.
  std::filesystem::path page;  ///< File for the example's interactive page; empty: not written.
};

}  // namespace ladon::example
