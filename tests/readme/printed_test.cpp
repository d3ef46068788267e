// Output shown by README.md and the pages is what the programs print, to the last digit but for
// times and memory; and the pictures beside the examples are what they draw. The numbers come
// from chains of floating-point operations whose last bits, and after some training whose digits,
// are those of one compiler, BLAS and instruction level: programs run at a level that nearly every
// processor has, and with another compiler or BLAS this test is skipped.
//
//   ```console          commands whose output is compared
//   ```console data     they need files: run only where LADON_README_DATA names a folder with them
//   ```console full     they take long: run only where LADON_README_FULL is set
//   ```console times    they print how long something took: never compared
//
// With LADON_README_WRITE=1 it writes what is printed into the pages, and the pictures beside the
// examples, instead of comparing.

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "ladon/core/io/file.h"
#include "ladon/tests/readme/markdown.h"
#include "ladon/tests/support.h"

extern "C" char* openblas_get_config();

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR, build = LADON_BUILD_DIR;

/// The loops and the BLAS of processors with AVX2, whatever else this one has.
constexpr const char* level = "LADON_ISA=v3 OPENBLAS_CORETYPE=Haswell";

/// Causes of other digits besides the level: compiler and BLAS; and the cores, by which Gram
/// matrices are cut into tiles.
std::string machine() {
#ifdef __clang__
  const std::string compiler = "clang ";
#else
  const std::string compiler = "g++ ";
#endif
  std::istringstream config(openblas_get_config());
  std::string blas, version;
  config >> blas >> version;
  return compiler + std::to_string(__GNUC__) + ", " + blas + " " + version + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores";
}

bool has_level() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

constexpr const char* printed_on = "g++ 12, OpenBLAS 0.3.21, 2 cores";

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

/// Columns of times and of memory, which no two runs share: every number in them becomes "#", and
/// so do the widths that they make. Times are told in the text by their units.
std::string without_times(const std::string& text) {
  const std::regex column("(epoch_seconds|seconds|peak_mb)( ↓)?");
  std::istringstream lines(text);
  std::string all, header;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("  ") != std::string::npos && std::regex_search(line, column)) header = line;
    if (line.empty()) header.clear();
    if (!header.empty())  // they stand last: what is before them is compared
      line = std::regex_replace(line.substr(0, line.find_last_not_of(' ') + 1),
                                std::regex(" +[0-9.]+( ± [0-9.–]+)?( +[0-9.]+| +–)?$"), " #");
    line = std::regex_replace(line, std::regex("[0-9.e+-]+ (s|MB|GB|kB|tokens/s)\\b"), "# $1");
    all += std::regex_replace(line, std::regex(" +"), " ") + '\n';
  }
  return all;
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
    const std::string there = read_file(kept.string());
    std::smatch ours, theirs;
    if (std::regex_search(drawn, ours, drawn_by) && std::regex_search(there, theirs, drawn_by) &&
        ours.str() == theirs.str()) {
      EXPECT_TRUE(drawn == there) << kept << " is not what the program draws";
    }
  }
}

void check(const Page& page, const Block& block) {
  const char* data = std::getenv("LADON_README_DATA");
  for (const Command& command : commands(block)) {
    if (command.output.empty()) continue;
    SCOPED_TRACE(page.name + ": " + command.line);
    const TemporaryFolder folder;
    if (block.words == "data")
      for (const auto& entry : fs::directory_iterator(data))
        fs::create_symlink(entry.path(), folder.path() / entry.path().filename());
    const Printed printed = run(command.line, folder.path());
    ASSERT_EQ(printed.status, 0);
    if (writing())
      write_into(page, command, printed.output);
    else
      EXPECT_EQ(without_times(printed.output), without_times(command.output));
    if (block.words.empty()) compare_pictures(page, folder.path());
  }
}

TEST(Printed, IsWhatThePagesShow) {
  if (machine() != printed_on)
    GTEST_SKIP() << "the pages were printed with " << printed_on << ", this is " << machine();
  if (!has_level())
    GTEST_SKIP() << "the pages were printed with " << level << ", which this processor cannot";
  const std::string words = std::getenv("LADON_README_DATA") != nullptr   ? "data"
                            : std::getenv("LADON_README_FULL") != nullptr ? "full"
                                                                          : "";
  const char* only = std::getenv("LADON_README_PAGE");
  for (const Page& page : all_pages())
    for (const Block& block : page.blocks)
      if (block.language == "console" && (only == nullptr || page.name == only) &&
          block.words == words)
        check(page, block);
}

}  // namespace
}  // namespace ladon::test
