#pragma once
// Shell of every example around its study: command line, help, report.

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/common_options.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"

// The parser of command lines. Its headers cost each source seconds, so program.cpp alone has them.
namespace CLI {
class Option;
}

namespace ladon::example {

/// A command to try, and what to watch in what it prints.
struct Trial {
  const char *command, *watch;
};

/// Text of an example about itself in --help. The first two stand in its main.cpp under these
/// names, where `examples/run --list` reads them.
struct Card {
  const char *summary, *duration;  ///< Of a run without options.
  const char* lesson;
  std::vector<Trial> trials;
};

/// Handle of an option of a Program, for what few options are told besides.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& expected(int values);  ///< Takes exactly so many.
  Option& needs(Option other);
  Option& excludes(Option other);
  Option& default_str(const std::string& words);  ///< What --help says of the default.

 private:
  CLI::Option* option_;
};

/// Everything of an example around its study: command line, help, exit status, report. An option is
/// told once: for --help, for what it may be, and for the settings in the report.
class Program {
 public:
  /// With --seed, --threads, --out, --panels and --json, which `options` gets.
  Program(const std::string& name, const Card& card, CommonOptions& options);
  ~Program();

  /// An option: what it is, and when one would change it. "--memory-budget" is the report's setting
  /// "memory_budget". T is one of the types at the end of program.cpp.
  template <class T>
  Option option(const std::string& name, T& value, const std::string& what, const std::string& when,
                const Check& check = {});
  /// A list, with commas between its values.
  template <class T>
  Option list(const std::string& name, std::vector<T>& values, const std::string& what,
              const std::string& when, const Check& check = {});
  void flag(const std::string& name, bool& value, const std::string& what);
  /// --page, of a program that has one.
  void page_option();
  /// Further entry of the report's settings, asked for at the end.
  void setting(const std::string& name, std::function<nlohmann::json()> value);
  /// Called once all options are there: refuses by UsageError what one option by itself cannot
  /// know.
  void check(std::function<void()> usage);

  /// Parses the command line, sets the number of threads, makes the output folder, makes sure that
  /// what will be written can be, and runs `body`, which says whether it came to its end:
  /// interrupted it returns false (ran_to_the_end), having reported what was finished. Returns the
  /// exit status: 0 on success, 2 on bad usage, 130 when interrupted, 1 with a one-line error on
  /// stderr. Started by mpirun (core/ranks/ranks.h), the first rank alone prints.
  int run(int argc, char** argv, const std::function<bool()>& body);

  /// Writes {"schema", "example", "version", "commit", "settings", "threads", "seconds"} and the
  /// report to --json, beside and then renamed; nothing without it.
  void write(const Report& report) const;
  /// Writes what `make` returns to --page, beside and then renamed, and says so; nothing without
  /// it.
  void write_page(const std::function<Page()>& make) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A program without options of its own but --page, if it has one. Returns the exit status of
/// Program::run.
int run_program(int argc, char** argv, const std::string& name, const Card& card,
                bool (*study)(const CommonOptions&, const Program&), bool has_page = false);
/// One that has --page.
inline int run_with_page(int argc, char** argv, const std::string& name, const Card& card,
                         bool (*study)(const CommonOptions&, const Program&)) {
  return run_program(argc, argv, name, card, study, true);
}

}  // namespace ladon::example
