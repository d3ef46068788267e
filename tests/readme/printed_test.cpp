// Output shown in README.md and the pages is what the programs print, and the pictures in the
// folders of the examples are what they draw. Each page is a separate test of ctest, printed_….
//
//   ```console          commands whose output is compared
//   ```console data     they need files: run only where LADON_README_DATA names a folder with them
//   ```console full     they take long: run only where LADON_README_FULL is set
//   ```console times    they print how long something took: never compared
//
// How outputs are compared:
//   - to the letter, but for times and memory, where compiler and BLAS are those that the pages were
//     printed with. The programs run at an instruction level that nearly every processor has. The
//     number of threads, and of cores, changes no bit.
//   - elsewhere words to the letter, and numbers within three errors where one is printed beside
//     them, else within a tenth, or one unit of the last digit: another compiler fuses and orders
//     operations in another way, the last bits differ, and a chain of samples or a training may go
//     another way (figures.h). Pictures, which have more digits, are not compared then.
//
// A page that has passed is not run again as long as nothing changes that could change its output:
// its programs (a changed comment does not change them), the libraries that they load, gnuplot, its
// blocks and its pictures (stamps.h). Fingerprints of all this are kept on this machine, and in
// passed.txt for others: on another machine with the same compiler and packages programs are equal
// to the byte. Lessons, which take seconds, and blocks that need data always run; with
// LADON_README_ANEW=1 every page does. LADON_README_RECORD=1 writes passed.txt from all pages.
//
// LADON_README_PAGE=examples/nngp_compare/README.md selects one page. With LADON_README_WRITE=1 the
// test writes the printed output into the pages, and the pictures into the folders of the examples,
// instead of comparing them.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>

#include "ladon/core/io/file.h"
#include "ladon/core/kernels/fingerprint.h"
#include "ladon/tests/readme/figures.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/readme/stamps.h"
#include "ladon/tests/support.h"

extern "C" char* openblas_get_config();

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR, build = LADON_BUILD_DIR;

/// The loops and the BLAS of processors with AVX2, whatever else this one has.
constexpr const char* level = "LADON_ISA=v3 OPENBLAS_CORETYPE=Haswell";

/// What rounds in its own way at the same level.
std::string compiler_and_blas() {
#ifdef __clang__
  const std::string compiler = "clang " + std::to_string(__clang_major__);
#else
  const std::string compiler = "g++ " + std::to_string(__GNUC__);
#endif
  std::istringstream config(openblas_get_config());
  std::string blas, version;
  config >> blas >> version;
  return compiler + ", " + blas + " " + version;
}

bool printed_here() { return compiler_and_blas() == "g++ 12, OpenBLAS 0.3.21"; }

bool has_level() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool writing() { return std::getenv("LADON_README_WRITE") != nullptr; }

/// The command as it runs here: "examples/run nngp_compare --draws 5" is the program of that name.
std::string resolved(std::string line) {
  const std::string examples = (build / "examples").string() + "/";
  line =
      std::regex_replace(line, std::regex("^examples/run( --|$)"), examples + "repulsive_heads$1");
  line = std::regex_replace(line, std::regex("^examples/run "), examples);
  line = std::regex_replace(line, std::regex("^build/release/"), build.string() + "/");
  line = std::regex_replace(line, std::regex("^build/quickstart/quickstart"),
                            (build / "consumer/quickstart/quickstart").string());
  return std::regex_replace(line, std::regex("^./my_program"),
                            (build / "consumer/consumer/main").string());
}

struct Printed {
  int status;
  std::string output;
};

Printed run(const std::string& line, const fs::path& folder) {
  const std::string file = (folder / "printed.txt").string();
  const int status = std::system(
      ("cd " + folder.string() + " && export " + level + " && " + resolved(line) + " >" + file)
          .c_str());
  return {status, read_file(file)};
}

/// Puts `output` in place of what the page shows after the command.
void write_into(const Page& page, const Command& command, const std::string& output) {
  std::string text = read_file(page.path.string());
  const std::string shown = "$ " + command.line + "\n" + command.output;
  const std::size_t at = text.find(shown);
  ASSERT_NE(at, std::string::npos) << command.line;
  text.replace(at, shown.size(), "$ " + command.line + "\n" + output);
  write_atomically(page.path.string(), text);
}

/// Pictures that the run left are those beside the page. An SVG says which gnuplot drew it: those
/// of another version are not compared.
void compare_pictures(const Page& page, const fs::path& folder) {
  const std::regex drawn_by("GNUPLOT [0-9.]+ patchlevel [0-9]+");
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path kept = page.path.parent_path() / entry.path().filename();
    if (entry.path().extension() != ".svg") continue;
    const std::string drawn = read_file(entry.path().string());
    if (writing()) {
      write_atomically(kept.string(), drawn);
      continue;
    }
    ASSERT_TRUE(fs::exists(kept)) << kept;
    if (!printed_here()) continue;
    const std::string there = read_file(kept.string());
    std::smatch ours, theirs;
    if (std::regex_search(drawn, ours, drawn_by) && std::regex_search(there, theirs, drawn_by) &&
        ours.str() == theirs.str()) {
      EXPECT_TRUE(drawn == there) << kept << " is not what the program draws";
    }
  }
}

void compare(const std::string& shown, const std::string& printed) {
  if (same_figures(shown, printed)) return;
  if (printed_here())
    EXPECT_EQ(without_times(printed), without_times(shown));
  else
    EXPECT_EQ(beyond_rounding(shown, printed), "");
}

void check(const Page& page, const Block& block) {
  for (const Command& command : commands(block)) {
    if (command.output.empty()) continue;
    SCOPED_TRACE(page.name + ": " + command.line);
    const TemporaryFolder folder;
    if (block.words == "data")
      for (const auto& entry : fs::directory_iterator(std::getenv("LADON_README_DATA")))
        fs::create_symlink(entry.path(), folder.path() / entry.path().filename());
    const Printed printed = run(command.line, folder.path());
    ASSERT_EQ(printed.status, 0);
    if (writing())
      write_into(page, command, printed.output);
    else
      compare(command.output, printed.output);
    if (block.words.empty()) compare_pictures(page, folder.path());
  }
}

/// Word of the blocks that are run: of those without one, or of those that the environment asks
/// for.
std::string wanted_word() {
  if (std::getenv("LADON_README_DATA") != nullptr) return "data";
  return std::getenv("LADON_README_FULL") != nullptr ? "full" : "";
}

/// Those of a page that are run now.
std::vector<Block> wanted_blocks(const Page& page) {
  const std::string word = wanted_word();
  std::vector<Block> wanted;
  for (const Block& block : page.blocks)
    if (block.language == "console" && block.words == word) wanted.push_back(block);
  return wanted;
}

/// Of all by which a page could pass or fail; nothing where it runs in any case.
std::optional<std::uint64_t> fingerprint_of_page(const Page& page,
                                                 const std::vector<Block>& blocks) {
  if (writing() || wanted_word() == "data" || page.name.starts_with("examples/lessons/"))
    return std::nullopt;
  std::string all = page.name + level + compiler_and_blas() + printed_by("gnuplot --version");
  for (const char* part :
       {"printed_test.cpp", "figures.cpp", "markdown.cpp"})  // how it is compared
    all += read_file((source / "tests/readme" / part).string());
  std::set<fs::path> pictures;
  for (const auto& entry : fs::directory_iterator(page.path.parent_path()))
    if (entry.path().extension() == ".svg") pictures.insert(entry.path());
  for (const fs::path& picture : pictures) all += read_file(picture.string());
  std::uint64_t fingerprint = detail::fingerprint(all);
  for (const Block& block : blocks) {
    fingerprint = detail::fingerprint(block.text, fingerprint);
    for (const Command& command : commands(block)) {
      const std::string program = resolved(command.line);
      const auto of_program = fingerprint_of_program(program.substr(0, program.find(' ')));
      if (!of_program) return std::nullopt;
      fingerprint = detail::fingerprint(*of_program, fingerprint);
    }
  }
  return fingerprint;
}

const fs::path recorded = source / "tests/readme/passed.txt";

/// Checks a page unless it has passed as it is; adds it to `record` if it has passed now or before.
void check(const Page& page, Record& record) {
  const std::vector<Block> blocks = wanted_blocks(page);
  if (blocks.empty()) return;
  const Stamps stamps(Stamps::folder());
  const auto fingerprint = fingerprint_of_page(page, blocks);
  const bool passed =
      fingerprint && (stamps.has(*fingerprint) || record.has(page.name, *fingerprint));
  if (passed && std::getenv("LADON_README_ANEW") == nullptr) {
    std::cout << page.name << " is unchanged since it last passed\n";
  } else {
    for (const Block& block : blocks) check(page, block);
    if (testing::Test::HasFailure()) return;
    if (fingerprint) stamps.add(*fingerprint, page.name);
  }
  if (fingerprint && wanted_word().empty()) record.set(page.name, *fingerprint);
}

TEST(Printed, IsWhatThePagesShow) {
  if (!has_level())
    GTEST_SKIP() << "the pages were printed with " << level << ", which this processor cannot";
  const char* only = std::getenv("LADON_README_PAGE");
  Record record(recorded);
  if (only == nullptr) {
    for (const Page& page : all_pages()) check(page, record);
    if (std::getenv("LADON_README_RECORD") != nullptr) record.write();
    return;
  }
  const Page page = read_page(source / only);
  if (wanted_blocks(page).empty())
    GTEST_SKIP() << "its blocks need LADON_README_DATA, or LADON_README_FULL";
  check(page, record);
}

}  // namespace
}  // namespace ladon::test
