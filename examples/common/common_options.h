#pragma once
// The options that all examples have.

#include <cstdint>
#include <filesystem>

namespace ladon::example {

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;             ///< 0: as many as cores.
  bool panels = false;         ///< Pictures' panels also as files of their own.
  std::filesystem::path out;   ///< Folder of pictures and data.
  std::filesystem::path json;  ///< Every figure the table prints; empty: none.
  std::filesystem::path page;  ///< What a reader can turn, of programs that have it; empty: none.
};

}  // namespace ladon::example
