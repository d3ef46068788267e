#pragma once
// The part of a program that all examples share: command line, help, report.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

// CLI11, the parser of command lines. Its headers take seconds to compile, so only help.cpp and
// program.cpp include them.
namespace CLI {
class Option;
}

namespace ladon::example {

/// A command that --help suggests to try, and what to look for in its output.
struct Trial {
  const char *command, *watch;
};

/// Description of an example in --help. Its main.cpp defines constants named `summary` and
/// `duration`, which `examples/run --list` reads from the source.
struct Card {
  const char *summary, *duration;  ///< `duration` is the time of a run without options.
  const char* lesson;
  std::vector<Trial> trials;
};

/// Handle of an option of a Program, for properties that few options need.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& expected(int values);  ///< Makes the option take exactly this many values.
  Option& needs(Option other);
  Option& excludes(Option other);
  Option& default_str(const std::string& words);  ///< Sets how --help shows the default.

 private:
  CLI::Option* option_;
};

/// Runs an example's study: reads the command line, prints help, returns the exit status and writes
/// the report. An option is declared once, for --help, for the check of its values, and for the
/// settings in the report.
class Program {
 public:
  /// Adds --seed, --threads, --out, --panels and --json, whose values go to `options`.
  Program(const std::string& name, const Card& card, CommonOptions& options);
  ~Program();

  /// Adds an option. For --help, `what` says what it sets, and `when` why one would change it.
  /// "--memory-budget" becomes the setting "memory_budget" in the report. T is one of the types at
  /// the end of program.cpp.
  template <class T>
  Option option(const std::string& name, T& value, const std::string& what, const std::string& when,
                const Check& check = {});
  /// Adds an option whose value is a list, with commas between its elements.
  template <class T>
  Option list(const std::string& name, std::vector<T>& values, const std::string& what,
              const std::string& when, const Check& check = {});
  void flag(const std::string& name, bool& value, const std::string& what);
  /// Adds --page, for a program that can write an interactive page.
  void page_option();
  /// Adds an entry to the report's settings, evaluated when the report is written.
  void setting(const std::string& name, std::function<nlohmann::json()> value);
  /// Sets a function that is called after all options are parsed, and throws UsageError for
  /// combinations of values that are not allowed.
  void check(std::function<void()> usage);

  /// Parses the command line, sets the number of threads, creates the output folder, verifies that
  /// the output files can be written, and runs `body`, which returns whether it finished. An
  /// interrupted `body` reports its finished results and returns false (ran_to_the_end). Returns
  /// the exit status: 0 on success, 2 on bad usage, 130 when interrupted, 1 after an error, which
  /// is printed to stderr in one line. In a program that mpirun started
  /// (core/extra/ranks/ranks.h), only the first rank prints.
  int run(int argc, char** argv, const std::function<bool()>& body);

  /// Writes {"schema", "example", "version", "commit", "settings", "threads", "seconds"} and the
  /// report to the file of --json, atomically; does nothing without --json.
  void write(const Report& report) const;
  /// Writes the page that `make` returns to the file of --page, atomically, and prints its path;
  /// does nothing without --page.
  void write_page(const std::function<Page()>& make) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a program that has no options except the common ones and, if has_page, --page. Returns the
/// exit status of Program::run.
int run_program(int argc, char** argv, const std::string& name, const Card& card,
                bool (*study)(const CommonOptions&, const Program&), bool has_page = false);
/// run_program() for a program with --page.
inline int run_with_page(int argc, char** argv, const std::string& name, const Card& card,
                         bool (*study)(const CommonOptions&, const Program&)) {
  return run_program(argc, argv, name, card, study, true);
}

}  // namespace ladon::example
