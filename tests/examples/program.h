#pragma once
// Runs example programs as a user does, and returns their exit status, output and JSON report.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ladon/tests/support.h"

namespace ladon::test {

std::string contents(const std::filesystem::path& path);

/// The data that an interactive page contains (Page::data).
nlohmann::json page_data(const std::filesystem::path& page);

/// Expects exit status 2 and an error message that names the option and is not the text of --help.
void expect_bad_usage(int status, const std::string& error, const std::string& option);

/// Studies, in the order of the table of examples/README.md.
std::vector<std::string> studies();

/// Fixture of the tests of one example program, with a temporary folder.
class Program : public testing::Test {
 protected:
  struct Run {
    int status;
    std::string out, error;
    nlohmann::json report;  ///< null if none was written
  };

  explicit Program(std::string name) : name_(std::move(name)) {}

  /// Runs the program with --out, --json and these arguments.
  Run run(const std::string& arguments);
  /// Runs the program with only these arguments.
  Run run_bare(const std::string& arguments);
  /// Runs the program with --out, --json and these arguments, and sends it a signal when it had
  /// time to finish a part of its results; on a busy machine this may take several trials.
  Run interrupted(const std::string& arguments, int signal);

  /// Expects that the program refuses the arguments: exit status 2, and a message that names the
  /// option.
  void refuses(const std::string& arguments, const std::string& option);
  /// Expects the same rows of the report on one thread and on two, and different rows with another
  /// seed.
  void expect_same_bits(const std::string& arguments);

  std::filesystem::path pictures() const { return folder_ / "pictures"; }

  TemporaryFolder folder_;

 private:
  Run interrupted_after(int seconds, const std::string& arguments, int signal);
  std::string outputs() const;
  std::string command(const std::string& arguments) const;
  Run result(int status) const;

  std::string name_;
};

}  // namespace ladon::test
