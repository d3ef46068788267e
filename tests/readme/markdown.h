#pragma once
// README.md, the folders' cards and the examples' pages, as their blocks and their prose.

#include <filesystem>
#include <string>
#include <vector>

namespace ladon::test {

/// A fenced block: ```language words, then text up to the closing fence.
struct Block {
  std::string language;  ///< "cpp", "console", …
  std::string words;     ///< Words after the language in its line.
  std::string text;      ///< With its last line break.
};

struct Page {
  std::filesystem::path path;
  std::string name;   ///< Below the source folder.
  std::string text;   ///< The file.
  std::string prose;  ///< Without the blocks.
  std::vector<Block> blocks;
};

/// Throws std::runtime_error for a block without an end.
Page read_page(const std::filesystem::path& path);

/// README.md and every .md file below the floors.
std::vector<Page> all_pages();

/// A console block shows commands, lines that begin with "$ ", each followed by what it prints (or
/// by nothing, where that is not shown).
struct Command {
  std::string line, output;
};
std::vector<Command> commands(const Block& block);

}  // namespace ladon::test
