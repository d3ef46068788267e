#pragma once
// Parser of the Markdown pages: README.md, the README.md of folders and of examples, as fenced
// blocks and prose.

#include <filesystem>
#include <string>
#include <vector>

namespace ladon::test {

/// A fenced block: ```language words, then text up to the closing fence.
struct Block {
  std::string language;  ///< "cpp", "console", …
  std::string words;     ///< Words after the language in its line.
  std::string text;      ///< Text including the last line break.
};

struct Page {
  std::filesystem::path path;
  std::string name;   ///< Path relative to the source folder.
  std::string text;   ///< Contents of the file.
  std::string prose;  ///< Text without fenced blocks.
  std::vector<Block> blocks;
};

/// Throws std::runtime_error if a block has no closing fence.
Page read_page(const std::filesystem::path& path);

/// README.md and all .md files of the source folders.
std::vector<Page> all_pages();

/// A command in a console block, a line that begins with "$ ", and the output shown below it, which
/// may be empty.
struct Command {
  std::string line, output;
};
std::vector<Command> commands(const Block& block);

}  // namespace ladon::test
