#pragma once
// Examples as a user runs them: exit statuses, output, the JSON report.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ladon/tests/support.h"

namespace ladon::test {

std::string contents(const std::filesystem::path& path);

/// The data that a page holds.
nlohmann::json page_data(const std::filesystem::path& page);

/// Expects status 2 and a message that a person reads: it names the option, and is not the help.
void expect_bad_usage(int status, const std::string& error, const std::string& option);

/// Studies, in the order of the table of examples/README.md.
std::vector<std::string> studies();

/// A test of the example `name`, with a folder of its own.
class Program : public testing::Test {
 protected:
  struct Run {
    int status;
    std::string out, error;
    nlohmann::json report;  ///< null if none was written
  };

  explicit Program(std::string name) : name_(std::move(name)) {}

  /// Runs it with --out, --json and these arguments.
  Run run(const std::string& arguments);
  /// Runs it with these arguments alone.
  Run run_bare(const std::string& arguments);
  /// Runs it with --out, --json and these arguments, and sends it a signal when it had time to
  /// finish something: on a busy machine that may take several trials.
  Run interrupted(const std::string& arguments, int signal);

  /// Expects status 2 and a message that names the option.
  void refuses(const std::string& arguments, const std::string& option);
  /// Expects the same rows at one thread and at two, and others with another seed.
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
