#pragma once
// Program around the study of every example: command line, help, report.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

// Parser of command lines. Its headers take seconds to compile, so only program.cpp includes them.
namespace CLI {
class Option;
}

namespace ladon::example {

/// A command to try, and what to watch for in its output.
struct Trial {
  const char *command, *watch;
};

/// An example's description of itself in --help. Its main.cpp defines `summary` and `duration`
/// under these names, where `examples/run --list` reads them.
struct Card {
  const char *summary, *duration;  ///< `duration` is of a run without options.
  const char* lesson;
  std::vector<Trial> trials;
};

/// Handle of an option of a Program, for settings that few options need.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& expected(int values);  ///< Takes exactly this many values.
  Option& needs(Option other);
  Option& excludes(Option other);
  Option& default_str(const std::string& words);  ///< How --help shows the default.

 private:
  CLI::Option* option_;
};

/// Everything around an example's study: command line, help, exit status, report. An option is
/// declared once, for --help, for the check of its values, and for the settings in the report.
class Program {
 public:
  /// Adds --seed, --threads, --out, --panels and --json, whose values go to `options`.
  Program(const std::string& name, const Card& card, CommonOptions& options);
  ~Program();

  /// Adds an option: `what` it is, and `when` one would change it. "--memory-budget" becomes the
  /// report's setting "memory_budget". T is one of the types at the end of program.cpp.
  template <class T>
  Option option(const std::string& name, T& value, const std::string& what, const std::string& when,
                const Check& check = {});
  /// Adds a list, with commas between its values.
  template <class T>
  Option list(const std::string& name, std::vector<T>& values, const std::string& what,
              const std::string& when, const Check& check = {});
  void flag(const std::string& name, bool& value, const std::string& what);
  /// Adds --page, for a program that can write one.
  void page_option();
  /// Adds an entry to the report's settings, evaluated when the report is written.
  void setting(const std::string& name, std::function<nlohmann::json()> value);
  /// Called after all options are parsed: throws UsageError for values that are wrong in
  /// combination.
  void check(std::function<void()> usage);

  /// Parses the command line, sets the number of threads, creates the output folder, verifies that
  /// the output files can be written, and runs `body`, which returns whether it finished; an
  /// interrupted one reports what was finished and returns false (ran_to_the_end). Returns the exit
  /// status: 0 on success, 2 on bad usage, 130 when interrupted, 1 with a one-line error on stderr.
  /// Started by mpirun (core/extra/ranks/ranks.h), only the first rank prints.
  int run(int argc, char** argv, const std::function<bool()>& body);

  /// Writes {"schema", "example", "version", "commit", "settings", "threads", "seconds"} and the
  /// report to the file of --json, atomically; does nothing without --json.
  void write(const Report& report) const;
  /// Writes the result of `make` to the file of --page, atomically, and prints its path; does
  /// nothing without --page.
  void write_page(const std::function<Page()>& make) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a program that has no options except the common ones and, if has_page, --page. Returns the
/// exit status of Program::run.
int run_program(int argc, char** argv, const std::string& name, const Card& card,
                bool (*study)(const CommonOptions&, const Program&), bool has_page = false);
/// The same for a program with --page.
inline int run_with_page(int argc, char** argv, const std::string& name, const Card& card,
                         bool (*study)(const CommonOptions&, const Program&)) {
  return run_program(argc, argv, name, card, study, true);
}

}  // namespace ladon::example
