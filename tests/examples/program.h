#pragma once
// Examples as a user runs them: exit statuses, output, the JSON report.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ladon/tests/support.h"

namespace ladon::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The data that a page holds.
inline nlohmann::json page_data(const std::filesystem::path& page) {
  const std::string text = contents(page), before = "id=\"data\">";
  const std::size_t begin = text.find(before) + before.size();
  return nlohmann::json::parse(text.substr(begin, text.find("</script>", begin) - begin));
}

/// Expects status 2 and a message that a person reads: it names the option, and is not the help.
inline void expect_bad_usage(int status, const std::string& error, const std::string& option) {
  EXPECT_EQ(status, 2) << error;
  EXPECT_NE(error.find(option), std::string::npos) << error;
  EXPECT_EQ(error.find("\nOptions:"), std::string::npos) << error;
}

/// Studies, in the order of the table of examples/README.md.
inline std::vector<std::string> studies() {
  std::istringstream page(contents(LADON_SOURCE_DIR "/examples/README.md"));
  std::vector<std::string> names;
  std::smatch m;
  for (std::string line; std::getline(page, line);)
    if (std::regex_search(line, m, std::regex("^\\| \\[([a-z][a-z_]*)\\]")))
      names.push_back(m.str(1));
  return names;
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
  Run run(const std::string& arguments) { return run_bare(outputs() + arguments); }

  /// Runs it with these arguments alone.
  Run run_bare(const std::string& arguments) {
    std::filesystem::remove(folder_ / "report.json");
    return result(std::system(command(arguments).c_str()));
  }

  /// Runs it with --out, --json and these arguments, and sends it a signal when it had time to
  /// finish something: on a busy machine that may take several trials.
  Run interrupted(const std::string& arguments, int signal) {
    for (const int seconds : {3, 6, 12, 24, 48}) {
      Run run = interrupted_after(seconds, arguments, signal);
      if (run.status != 130 || !run.report.value("rows", nlohmann::json()).empty()) return run;
    }
    return interrupted_after(90, arguments, signal);
  }

  /// Expects status 2 and a message that names the option.
  void refuses(const std::string& arguments, const std::string& option) {
    const Run refused = run(arguments);
    expect_bad_usage(refused.status, refused.error, option);
  }

  /// Expects the same rows at one thread and at two, and others with another seed.
  void expect_same_bits(const std::string& arguments) {
    const Run one = run(arguments + " --threads 1"), two = run(arguments + " --threads 2");
    ASSERT_EQ(one.status, 0) << one.error;
    EXPECT_FALSE(one.report.at("rows").empty());
    EXPECT_EQ(one.report.at("rows"), two.report.at("rows"));
    EXPECT_NE(one.report.at("rows"), run(arguments + " --seed 2").report.at("rows"));
  }

  std::filesystem::path pictures() const { return folder_ / "pictures"; }

  TemporaryFolder folder_;

 private:
  Run interrupted_after(int seconds, const std::string& arguments, int signal) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      execl("/bin/sh", "sh", "-c", ("exec " + command(outputs() + arguments)).c_str(), nullptr);
      _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    return result(status);
  }
  std::string outputs() const {
    return "--out " + pictures().string() + " --json " + (folder_ / "report.json").string() + " ";
  }
  std::string command(const std::string& arguments) const {
    return std::string(LADON_EXAMPLES_DIR) + "/" + name_ + " " + arguments + " >" +
           (folder_ / "out").string() + " 2>" + (folder_ / "error").string();
  }
  Run result(int status) const {
    Run run{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            contents(folder_ / "out"),
            contents(folder_ / "error"),
            {}};
    if (std::filesystem::exists(folder_ / "report.json"))
      run.report = nlohmann::json::parse(contents(folder_ / "report.json"));
    return run;
  }

  std::string name_;
};

}  // namespace ladon::test
