// Runs the fuzz targets on their corpora and on random edits of these, with any compiler. Inputs
// for which a fuzzer found a bug are added to the corpus, so that the bug cannot return.

#include <map>

#include "ladon/core/io/file.h"
#include "ladon/tests/core/io/damaged.h"
#include "ladon/tests/folders.h"
#include "ladon/tests/fuzz/target.h"

namespace ladon {
namespace {

class Fuzz : public testing::TestWithParam<fuzz::Target> {
 protected:
  static std::map<std::string, std::string> corpus() {
    std::map<std::string, std::string> files;
    const auto folder = std::filesystem::path(test::source_folder()) / "tests/fuzz/corpus";
    for (const auto& entry : std::filesystem::directory_iterator(folder / GetParam().name))
      files[entry.path().filename().string()] = read_file(entry.path().string());
    return files;
  }
  /// Whether the target reads the bytes; a finding fails the test.
  static bool attempt(const std::string& bytes, const std::string& what) {
    try {
      return fuzz::attempt(GetParam(), bytes);
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << ": " << error.what();
      return false;
    }
  }
};

// A file whose name begins with "ok" must be read, any other refused.
TEST_P(Fuzz, CorpusIsReadOrRefused) {
  int read = 0;
  for (const auto& [name, bytes] : corpus()) {
    const bool ok = attempt(bytes, name);
    EXPECT_EQ(ok, name.starts_with("ok")) << name;
    read += ok;
  }
  EXPECT_GT(read, 0) << "without a valid file, edits reach little";
}

TEST_P(Fuzz, EditsAreReadOrRefused) {
  const auto files = corpus();
  const int edits = 4000 / static_cast<int>(files.size());
  std::uint64_t seed = 1;
  for (const auto& [name, bytes] : files) {
    Generator rng(seed++);
    for (int i = 0; i < edits; ++i)
      attempt(test::mutate(bytes, rng), detail::join(name, ", edit ", i));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, testing::ValuesIn(fuzz::targets()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace ladon
