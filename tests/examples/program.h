#pragma once
// Examples as a user runs them: exit statuses, output, the JSON report.

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "ladon/tests/support.h"

namespace ladon::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

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
  Run run(const std::string& arguments) {
    std::filesystem::remove(folder_ / "report.json");
    const std::string command = std::string(LADON_EXAMPLES_DIR) + "/" + name_ + " --out " +
                                pictures().string() + " --json " +
                                (folder_ / "report.json").string() + " " + arguments + " >" +
                                (folder_ / "out").string() + " 2>" + (folder_ / "error").string();
    const int status = std::system(command.c_str());
    Run result{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               contents(folder_ / "out"),
               contents(folder_ / "error"),
               {}};
    if (std::filesystem::exists(folder_ / "report.json"))
      result.report = nlohmann::json::parse(contents(folder_ / "report.json"));
    return result;
  }

  std::filesystem::path pictures() const { return folder_ / "pictures"; }

  TemporaryFolder folder_;

 private:
  std::string name_;
};

}  // namespace ladon::test
