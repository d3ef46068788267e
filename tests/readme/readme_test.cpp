// README.md, the README.md of folders (cards) and the examples' pages agree with the sources: every
// program that they show is built and run by the test `consumer`, every link leads to something,
// every picture exists and is legible, and every test that they name exists. (figures_test.cpp
// tests the numbers in their prose; printed_test.cpp compares their output blocks with what the
// programs print.)

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ladon/core/version.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR;

std::string contents(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

/// All files below a folder whose names match, one after the other.
std::string all_of(const fs::path& folder, const std::string& name) {
  std::string text;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (std::regex_match(entry.path().filename().string(), std::regex(name)))
      text += '\n' + contents(entry.path());
  return text;
}

std::vector<std::smatch> found(const std::string& text, const std::regex& what) {
  return {std::sregex_iterator(text.begin(), text.end(), what), {}};
}
std::vector<std::smatch> found(std::string&&, const std::regex&) = delete;  // matches point into it

// A lecture hall reads no letters below 16 pt, once the picture fills a slide of 960 × 540 pt.
TEST(Readme, PicturesAreReadFromTheLastRow) {
  const std::set<std::string> overviews = {"moving_particles.svg"};  // beside slides of their parts
  const std::regex size(R"(width=["']([0-9]+)["'] height=["']([0-9]+)["'])"),
      font(R"(font-size=["']([0-9.]+))");
  for (const char* folder : {"examples", "tests/bench"})
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() != ".svg" || overviews.contains(entry.path().filename()))
        continue;
      const std::string svg = contents(entry.path());
      std::smatch page;
      ASSERT_TRUE(std::regex_search(svg, page, size)) << entry.path();
      const double scale = std::min(960 / std::stod(page[1]), 540 / std::stod(page[2]));
      double smallest = 1e9;
      for (const std::smatch& letters : found(svg, font))
        smallest = std::min(smallest, std::stod(letters[1]));
      EXPECT_GE(scale * smallest, 16) << entry.path();
    }
}

/// Columns of a line of UTF-8: code points, without those that combine with the one before.
std::ptrdiff_t columns(const std::string& line) {
  return std::count_if(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte & 0xC0) != 0x80 && byte != 0xCC && byte != 0xCD;
  });
}

// Prose in comments is wrapped by hand; programs and formulas, which are indented, may be wider.
TEST(Readme, CommentsStayWithinAHundredColumns) {
  const std::regex prose("^ *//[/<]* ?[^ /<].*");
  for (const char* floor : {"core", "autograd", "layers", "optim", "examples", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(source / floor)) {
      const std::string kind = entry.path().extension().string();
      if (kind != ".h" && kind != ".cpp") continue;
      std::istringstream lines(contents(entry.path()));
      int number = 0;
      for (std::string line; std::getline(lines, line);) {
        ++number;
        const bool wide = line.size() > 100 && columns(line) > 100;
        EXPECT_FALSE(wide && std::regex_match(line, prose)) << entry.path() << ":" << number;
      }
    }
}

TEST(Readme, EveryFolderHasACard) {
  for (const char* folder : {"core", "autograd", "layers", "layers/infinite", "optim",
                             "optim/particles", "optim/posterior", "tests", "examples"}) {
    EXPECT_TRUE(fs::exists(source / folder / "README.md")) << folder;
  }
}

/// Calls that tables "in use" print, each between backticks in a row's first cell.
std::vector<std::string> calls_in_use(const std::string& card) {
  std::vector<std::string> calls;
  std::istringstream lines(card);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    in_table = line.starts_with("|") && (in_table || line.starts_with("| in use |"));
    if (!in_table) continue;
    const std::string cell = line.substr(0, line.find(" | ", 2));
    const std::regex call("`([^`]+)`");
    for (std::sregex_iterator at(cell.begin(), cell.end(), call), end; at != end; ++at)
      calls.push_back((*at)[1]);
  }
  return calls;
}

TEST(Readme, CallsOfTheCardsAreBuiltAndRun) {
  const auto dense = [](const std::string& text) {
    return std::regex_replace(text, std::regex("\\s+"), "");
  };
  const std::string program = dense(contents(source / "tests/consumer/in_use.cpp"));
  std::size_t count = 0;
  for (const Page& page : all_pages())
    for (const std::string& call : calls_in_use(page.text)) {
      ++count;
      EXPECT_NE(program.find(dense(call)), program.npos) << page.name << ": " << call;
    }
  EXPECT_GT(count, 0u);
}

TEST(Readme, ShowsProgramsThatAreBuiltAndRun) {
  const std::string programs = all_of(source / "tests" / "consumer", ".*\\.(cpp|txt)") +
                               all_of(source / "examples", ".*\\.(cpp|txt)");
  for (const Page& page : all_pages())
    for (const Block& block : page.blocks)
      if (block.language == "cpp" || block.language == "cmake") {
        EXPECT_NE(programs.find(block.text), std::string::npos)
            << page.name << " shows what no program contains to the letter:\n"
            << block.text;
      }
}

TEST(Readme, EveryBlockSaysWhatItIs) {
  // A log has figures of the past, which no program prints again.
  const std::set<std::string> kinds = {"cpp", "cmake", "console", "log", "bibtex"};
  for (const Page& page : all_pages())
    for (const Block& block : page.blocks)
      EXPECT_TRUE(kinds.count(block.language)) << page.name << ": ```" << block.language;
}

TEST(Readme, EveryLinkAndPictureIsThere) {
  std::vector<Page> pages = all_pages();
  for (const auto& entry : fs::directory_iterator(source / ".github"))
    if (entry.path().extension() == ".md") pages.push_back(read_page(entry.path()));
  for (const Page& page : pages) {
    const std::string prose = std::regex_replace(page.prose, std::regex("`[^`]*`"), "");
    for (const auto& link : found(prose, std::regex("(?:\\]\\(|src=\")([^)\"#]+)[^)\"]*[)\"]")))
      if (!std::regex_search(link.str(1), std::regex("^[a-z]+://"))) {
        EXPECT_TRUE(fs::exists(page.path.parent_path() / link.str(1)))
            << page.name << ": " << link.str();
      }
  }
}

TEST(Readme, EveryTestThatItNamesExists) {
  const std::string tests = all_of(source / "tests", ".*_test\\.cpp|main\\.cpp");
  for (const Page& page : all_pages())
    for (const auto& name :
         found(page.prose, std::regex("`([A-Z][A-Za-z0-9]+)\\.([A-Z][A-Za-z0-9]+)`")))
      EXPECT_NE(tests.find("(" + name.str(1) + ", " + name.str(2) + ")"), std::string::npos)
          << page.name << ": " << name.str();
}

/// The cells of a table's row.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> all;
  for (const auto& cell : found(row, std::regex("\\| *([^|]*[^| ]|) *(?=\\|)")))
    all.push_back(cell.str(1));
  return all;
}

// (Whether the test is there is asked above.)
TEST(Readme, EachThingThatLadonHasBesideOthersIsHeldByATest) {
  const std::string card = contents(source / "layers" / "README.md");
  const std::regex heading("\\| \\| LibTorch [^\n]*\\| Ladon \\| test \\|\n[^\n]*\n"),
      test("`[A-Za-z0-9]+\\.[A-Za-z0-9]+`");
  std::smatch table;
  ASSERT_TRUE(std::regex_search(card, table, heading));
  std::istringstream lines(table.suffix().str());
  int count = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with("|"); ++count) {
    const std::vector<std::string> row = cells(line);
    ASSERT_EQ(row.size(), 7u) << line;
    EXPECT_TRUE(row[5].starts_with("–") ? row[6].empty() : std::regex_match(row[6], test)) << line;
  }
  EXPECT_GT(count, 0);
}

// The version stands once in CMakeLists.txt, and for readers of other files in these.
TEST(Readme, EveryFileNamesThisVersion) {
  const std::string full = version(), minor = full.substr(0, full.rfind('.'));
  for (const auto& [file, pattern, expected] : std::vector<std::array<std::string, 3>>{
           {".github/CHANGELOG.md", "\n## ([0-9][0-9.]*)\n", full},
           {"README.md", "version = \\{(.*)\\}", full},
           {".github/CITATION.cff", "\nversion: (.*)\n", full},
           {".ci/vcpkg/ladon/vcpkg.json", "\"version\": \"(.*)\"", full},
           {".zenodo.json", "\"version\": \"(.*)\"", full},
           {"examples/lessons/CMakeLists.txt", "find_package\\(ladon (.*) REQUIRED", minor},
           {"examples/quickstart/CMakeLists.txt", "find_package\\(ladon (.*) REQUIRED", minor},
           {"tests/consumer/CMakeLists.txt", "find_package\\(ladon (.*) REQUIRED", minor}}) {
    const std::string text = contents(source / file);
    std::smatch found_version;
    ASSERT_TRUE(std::regex_search(text, found_version, std::regex(pattern))) << file;
    EXPECT_EQ(found_version[1], expected) << file;
  }
}

/// Input that a page tells to type: the commands of its console blocks, and code in its prose.
std::vector<std::string> typed(const Page& page) {
  std::vector<std::string> all;
  for (const Block& block : page.blocks)
    if (block.language == "console")
      for (const Command& command : commands(block)) all.push_back(command.line);
  for (const auto& code : found(page.prose, std::regex("`([^`]+)`"))) all.push_back(code.str(1));
  return all;
}

TEST(Readme, EveryProgramThatItTellsToRunIsThere) {
  for (const Page& page : all_pages())
    for (const std::string& line : typed(page)) {
      std::smatch m;
      if (std::regex_search(line, m, std::regex("^(examples|tests)/run"))) {
        EXPECT_TRUE(fs::exists(source / m.str())) << page.name << ": " << line;
      }
      if (std::regex_search(line, m, std::regex("^examples/run ([a-z_]+|[0-9]+_[a-z_]+)")) &&
          m.str(1) != "tour" && m.str(1) != "slides" && m.str(1) != "data" && m.str(1) != "site") {
        EXPECT_TRUE(fs::exists(source / "examples" / m.str(1) / "main.cpp") ||
                    fs::exists(source / "examples" / "lessons" / m.str(1) / "main.cpp"))
            << page.name << ": " << line;
      }
      if (std::regex_search(line, m, std::regex("^build/release/(tests/bench/[a-z_]+)"))) {
        EXPECT_TRUE(fs::exists(source / (m.str(1) + ".cpp")) ||
                    fs::exists(source / m.str(1) / "main.cpp"))
            << page.name << ": " << line;
      }
    }
}

TEST(Readme, EveryOptionThatItNamesIsThere) {
  const std::string known =
      all_of(source / "examples", ".*\\.cpp|run") +
      all_of(source / "tests", "CMakeLists\\.txt|.*\\.cmake|run|report") +
      all_of(source / "tests/bench/compare", ".*\\.cpp") +
      " --help --preset --build --install --prefix --test-dir ";  // others' own
  for (const Page& page : all_pages())
    for (const std::string& line : typed(page))
      for (const auto& option : found(line, std::regex("(?:^| )(--[a-z][a-z-]*)")))
        EXPECT_TRUE(std::regex_search(known, std::regex(option.str(1) + "\\b")))
            << page.name << ": " << line;
}

}  // namespace
}  // namespace ladon::test
