// Public data files that the programs on the pages read: for each of them examples/DATA.md has the
// checksum and the address.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "ladon/core/io/file.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR;

/// What `examples/run data FOLDER` says, and its exit status.
std::pair<int, std::string> judged(const fs::path& folder) {
  const TemporaryFolder answer;
  const fs::path text = answer / "text";
  const int status = std::system(
      (source.string() + "/examples/run data " + folder.string() + " >" + text.string()).c_str());
  return {WEXITSTATUS(status), read_file(text.string())};
}

/// Files of the table, the patterns of several among them.
std::vector<std::string> listed() {
  std::istringstream table(read_file((source / "examples/DATA.md").string()));
  std::vector<std::string> names;
  std::smatch m;
  for (std::string line; std::getline(table, line);)
    if (std::regex_search(line, m,
                          std::regex("^\\| `([^`]+)` \\| .* \\| `[0-9a-f]{64}` \\| https://")))
      names.push_back(m.str(1));
  return names;
}

TEST(Data, EveryFileThatAPageReadsHasItsSumAndItsAddress) {
  const std::vector<std::string> names = listed();
  EXPECT_FALSE(names.empty());
  int read = 0;
  for (const Page& page : all_pages())
    for (const Block& block : page.blocks)
      if (block.language == "console" && block.words == "data")
        for (const Command& command : commands(block)) {
          std::istringstream words(std::regex_replace(command.line, std::regex(","), " "));
          for (std::string word; words >> word;)
            if (std::regex_search(word,
                                  std::regex("\\.(gz|txt|bin|tsv|json|train|test|neg|pos)$"))) {
              ++read;
              EXPECT_NE(std::find(names.begin(), names.end(), word), names.end())
                  << page.name << " reads " << word << ", which examples/DATA.md does not have";
            }
        }
  EXPECT_GT(read, 0);
}

TEST(Data, RealDataAreJudgedByTheirContent) {
  const TemporaryFolder folder;
  EXPECT_EQ(judged(folder.path()).first, 1);
  std::ofstream(folder / "TREC.test") << "of other digits\n";
  const std::string wrong = judged(folder.path()).second;
  EXPECT_NE(wrong.find("different  TREC.test"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("missing    TREC.train"), std::string::npos) << wrong;
  if (!fs::exists(shared_data())) GTEST_SKIP() << "no " << shared_data();
  fs::remove(folder / "TREC.test");
  for (const auto& entry : fs::recursive_directory_iterator(shared_data()))
    if (entry.is_regular_file() && !fs::exists(folder / entry.path().filename()))
      fs::create_symlink(entry.path(), folder / entry.path().filename());
  fs::create_symlink(shared_data() / "tinyshakespeare/input.txt", folder / "tinyshakespeare.txt");
  fs::create_directory_symlink(shared_data() / "uci_regression", folder / "uci_regression");
  const auto [status, all] = judged(folder.path());
  EXPECT_EQ(status, 0) << all;
}

}  // namespace
}  // namespace ladon::test
