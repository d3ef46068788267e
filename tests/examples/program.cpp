#include "ladon/tests/examples/program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

namespace ladon::test {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

nlohmann::json page_data(const std::filesystem::path& page) {
  const std::string text = contents(page), before = "id=\"data\">";
  const std::size_t begin = text.find(before) + before.size();
  return nlohmann::json::parse(text.substr(begin, text.find("</script>", begin) - begin));
}

void expect_bad_usage(int status, const std::string& error, const std::string& option) {
  EXPECT_EQ(status, 2) << error;
  EXPECT_NE(error.find(option), std::string::npos) << error;
  EXPECT_EQ(error.find("\nOptions:"), std::string::npos) << error;
}

std::vector<std::string> studies() {
  std::istringstream page(contents(LADON_SOURCE_DIR "/examples/README.md"));
  std::vector<std::string> names;
  std::smatch m;
  for (std::string line; std::getline(page, line);)
    if (std::regex_search(line, m, std::regex("^\\| \\[([a-z][a-z_]*)\\]")))
      names.push_back(m.str(1));
  return names;
}

Program::Run Program::run(const std::string& arguments) { return run_bare(outputs() + arguments); }

Program::Run Program::run_bare(const std::string& arguments) {
  std::filesystem::remove(folder_ / "report.json");
  return result(std::system(command(arguments).c_str()));
}

Program::Run Program::interrupted(const std::string& arguments, int signal) {
  for (const int seconds : {3, 6, 12, 24, 48}) {
    Run run = interrupted_after(seconds, arguments, signal);
    if (run.status != 130 || !run.report.value("rows", nlohmann::json()).empty()) return run;
  }
  return interrupted_after(90, arguments, signal);
}

void Program::refuses(const std::string& arguments, const std::string& option) {
  const Run refused = run(arguments);
  expect_bad_usage(refused.status, refused.error, option);
}

void Program::expect_same_bits(const std::string& arguments) {
  const Run one = run(arguments + " --threads 1"), two = run(arguments + " --threads 2");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_FALSE(one.report.at("rows").empty());
  EXPECT_EQ(one.report.at("rows"), two.report.at("rows"));
  EXPECT_NE(one.report.at("rows"), run(arguments + " --seed 2").report.at("rows"));
}

Program::Run Program::interrupted_after(int seconds, const std::string& arguments, int signal) {
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

std::string Program::outputs() const {
  return "--out " + pictures().string() + " --json " + (folder_ / "report.json").string() + " ";
}

std::string Program::command(const std::string& arguments) const {
  return std::string(LADON_EXAMPLES_DIR) + "/" + name_ + " " + arguments + " >" +
         (folder_ / "out").string() + " 2>" + (folder_ / "error").string();
}

Program::Run Program::result(int status) const {
  Run run{WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          contents(folder_ / "out"),
          contents(folder_ / "error"),
          {}};
  if (std::filesystem::exists(folder_ / "report.json"))
    run.report = nlohmann::json::parse(contents(folder_ / "report.json"));
  return run;
}

}  // namespace ladon::test
