#pragma once
// The options that all examples have.

#include <cstdint>
#include <filesystem>

namespace ladon::example {

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;             ///< 0: as many as there are cores.
  bool panels = false;         ///< Also write each panel of a picture to its own file.
  std::filesystem::path out;   ///< Folder for pictures and data.
  std::filesystem::path json;  ///< File for every figure of the tables; empty: none.
  std::filesystem::path page;  ///< File for the interactive page, if it has one; empty: none.
};

}  // namespace ladon::example
