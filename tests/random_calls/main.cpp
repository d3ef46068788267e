// Makes random calls of all public functions: each must end in a result or in a ladon::Error.
//
//   random_calls [--seed=S] [--calls=N]     LADON_RANDOM_CALLS=N does as --calls
//   random_calls --seed=S --only=N          repeats one call, with those of its episode before it

#include <gtest/gtest.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "ladon/tests/declared_functions.h"
#include "ladon/tests/folders.h"
#include "run.h"
#include "table.h"

namespace ladon::test {
namespace {

RunOptions options;

TEST(RandomCalls, EndInAResultOrAnError) {
  const RunReport report = run_random_calls(options);
  std::cout << report.results << " results, " << report.errors << " Errors, " << report.sweeps
            << " sweeps; the slowest call took " << report.slowest_seconds
            << " s: " << report.slowest << '\n';
  EXPECT_TRUE(options.only || report.results > report.errors) << "the calls are too wild";
  if (options.only || options.calls < 50'000) return;
  for (const CallRow& row : call_table().rows())
    EXPECT_TRUE(report.by_row.contains(row.name)) << row.name << " never gave a result";
}

/// Declarations by name in headers, those of overloads counted.
std::map<std::string, int> declared() {
  std::map<std::string, int> names;
  const std::filesystem::path root(source_folder());
  std::vector<std::filesystem::path> headers{root / "autograd/extra/transforms/forward.h",
                                             root / "autograd/checkpoint.h",
                                             root / "autograd/functional.h",
                                             root / "autograd/graph.h",
                                             root / "autograd/extra/transforms/vmap.h",
                                             root / "core/tensor.h",
                                             root / "core/like.h",
                                             root / "core/random.h",
                                             root / "core/linalg/lapack.h"};
  for (const auto& header : test::operation_headers(root)) headers.push_back(header);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root / "autograd/extra/distributions"))
    if (entry.path().extension() == ".h") headers.push_back(entry.path());
  for (const auto& header : headers)
    for (const std::string& name : declared_functions(header)) ++names[name];
  return names;
}

TEST(RandomCalls, EveryPublicFunctionHasItsRows) {
  std::map<std::string, int> rows;
  for (const CallRow& row : call_table().rows()) {
    const std::size_t scope = row.name.starts_with("lapack::") ? 8 : 0;
    ++rows[row.name.substr(scope)];
  }
  for (const auto& [name, count] : declared())
    EXPECT_GE(rows[name], count) << name << " is declared " << count << " times in public headers";
  EXPECT_EQ(declared().at("operator-"), 4);
}

/// Takes "--name=value" as a number; nothing if it is another argument.
std::optional<std::int64_t> number(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name)) return {};
  argument.remove_prefix(name.size());
  std::int64_t value = 0;
  const auto end = std::from_chars(argument.data(), argument.data() + argument.size(), value);
  if (end.ec != std::errc() || end.ptr != argument.data() + argument.size()) return {};
  return value;
}

}  // namespace

/// Returns false for an argument that is none of ours.
bool take(std::string_view argument) {
  if (const auto seed = number(argument, "--seed=")) {
    options.seed = static_cast<std::uint64_t>(*seed);
  } else if (const auto calls = number(argument, "--calls=")) {
    options.calls = *calls;
  } else if (const auto only = number(argument, "--only=")) {
    options.only = *only;
  } else {
    return false;
  }
  return true;
}

}  // namespace ladon::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* calls = std::getenv("LADON_RANDOM_CALLS"))
    ladon::test::take(std::string("--calls=") + calls);
  for (int i = 1; i < argc; ++i)
    if (!ladon::test::take(argv[i])) {
      std::cerr << "unknown argument " << argv[i] << "; known are --seed=S, --calls=N, --only=N\n";
      return 2;
    }
  return RUN_ALL_TESTS();
}
