// Tests of the program `every`: every public operation, and every class and function of the kinds
// that the README.md of folders list, has an entry, and each row of the smallest size runs. No
// times are checked.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/sources.h"
#include "row.h"

namespace ladon::bench::every {
namespace {

namespace fs = std::filesystem;
const fs::path source = LADON_SOURCE_DIR;

std::set<std::string> operations() {
  std::set<std::string> names;
  for (const Entry& entry : every_entry()) names.insert(operation_of(entry.name));
  return names;
}

TEST(Every, HasARowOfEachDeclaredOperation) {
  std::set<std::string> declared;
  for (const auto& file : fs::recursive_directory_iterator(source / "autograd/ops"))
    if (file.path().extension() == ".h")
      for (const std::string& name : test::declared_functions(file.path())) declared.insert(name);
  EXPECT_GT(declared.size(), 150u);
  const std::set<std::string> rows = operations();
  for (const std::string& name : declared)
    EXPECT_TRUE(rows.contains(name)) << name << " has no entry in tests/bench/every";
}

/// Names that a card lists in its line of a kind.
std::vector<std::string> listed(const char* card, const char* kind) {
  std::ifstream in(source / card);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(std::string("| ") + kind + " |")) return test::matches(line, "`(\\w+)`");
  return {};
}

TEST(Every, HasARowOfEachThingThatACardLists) {
  const std::set<std::string> rows = operations();
  for (const auto& [card, kind] : {std::pair("layers/README.md", "layers"),
                                   {"layers/infinite/README.md", "layers"},
                                   {"optim/README.md", "optimizers"},
                                   {"optim/samplers/README.md", "samplers"},
                                   {"optim/samplers/README.md", "chain samplers"},
                                   {"optim/particles/README.md", "particle methods"},
                                   {"optim/particles/README.md", "Stein kernels"},
                                   {"optim/posterior/README.md", "solvers"},
                                   {"optim/posterior/README.md", "posteriors"}}) {
    const std::vector<std::string> names = listed(card, kind);
    EXPECT_FALSE(names.empty()) << card << " lists no " << kind;
    for (const std::string& name : names)
      EXPECT_TRUE(rows.contains(name)) << name << ", of the " << kind << ", has no entry";
  }
}

TEST(Every, HasNamesOfItsOwn) {
  std::set<std::string> names;
  for (const Row& row : every_row())
    EXPECT_TRUE(names.insert(row.name()).second) << row.name() << " comes twice";
  EXPECT_GT(names.size(), 400u);
}

/// Also a second time; outputs are finite, and gradients of inputs that are used have their shapes.
void expect_to_run(const Row& row) {
  const Call call = make_call(row);
  call.run();
  const Tensors results = call.run();
  int defined = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    ++defined;
    EXPECT_TRUE(all(isfinite(cast(results[i], f64))).item<bool>());
    if (row.gradient) {
      EXPECT_EQ(results[i].shape(), call.inputs[call.differentiated[i]].shape());
    }
  }
  EXPECT_GT(defined, 0);
  EXPECT_GT(work_of(row, call, results).bytes, 0);
}

TEST(Every, RunsAtTheSmallestSize) {
  for (const Row& row : every_row()) {
    if (row.size != Size::small) continue;
    const testing::ScopedTrace trace(__FILE__, __LINE__, row.name());
    EXPECT_NO_THROW(expect_to_run(row));
  }
}

}  // namespace
}  // namespace ladon::bench::every
