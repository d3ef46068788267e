#include "ladon/tests/readme/markdown.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ladon::test {
namespace fs = std::filesystem;

Page read_page(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  Page page{path, path.lexically_relative(LADON_SOURCE_DIR).string(), all.str(), {}, {}};
  std::istringstream lines(page.text);
  const std::string fence = "```";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(fence)) {
      page.prose += line + '\n';
      continue;
    }
    Block block;
    std::istringstream words(line.substr(fence.size()));
    words >> block.language >> std::ws;
    std::getline(words, block.words);
    bool closed = false;
    while (!closed && std::getline(lines, line)) {
      closed = line == fence;
      if (!closed) block.text += line + '\n';
    }
    if (!closed) throw std::runtime_error(page.name + ": a block has no end");
    page.blocks.push_back(block);
  }
  return page;
}

std::vector<Page> all_pages() {
  const fs::path source = LADON_SOURCE_DIR;
  std::vector<fs::path> paths;
  for (const char* floor : {"core", "autograd", "layers", "optim", "tests", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(source / floor))
      if (entry.path().extension() == ".md") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Page> pages{read_page(source / "README.md")};
  for (const fs::path& path : paths) pages.push_back(read_page(path));
  return pages;
}

std::vector<Command> commands(const Block& block) {
  std::vector<Command> all;
  std::istringstream lines(block.text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("$ "))
      all.push_back({line.substr(2), ""});
    else if (!all.empty())
      all.back().output += line + '\n';
  return all;
}

}  // namespace ladon::test
