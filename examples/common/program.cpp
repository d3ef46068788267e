#include "ladon/examples/common/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/io/file.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/version.h"
#include "ladon/examples/common/help.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

extern const char commit[128];  // Git commit, written by commit.cmake

namespace {

constexpr int most_threads = 1024;  // limit of set_num_threads

/// Throws Error, naming the option, if write_atomically would fail. Leaves no file behind.
void check_writable(const char* option, const std::filesystem::path& path) {
  struct Tried {};
  try {
    write_atomically(path, [](OutputFile&) { throw Tried{}; });
  } catch (const Tried&) {
  } catch (const Error& error) {
    throw Error(join(option, ": ", error.what()));
  }
}

/// Checks early that outputs can be written, so that hours of work are not lost at the end.
void prepare_output(const std::string& name, const CommonOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) throw Error(join("--out: cannot make ", options.out.string(), ": ", error.message()));
  check_writable("--out", options.out / (name + ".gp"));
  if (!options.json.empty()) check_writable("--json", options.json);
  if (!options.page.empty()) check_writable("--page", options.page);
}

/// A shell command, broken before options into lines of the help's width.
std::string in_lines(const std::string& command) {
  std::string lines;
  std::size_t at = 0, column = 0;
  while (at < command.size()) {
    const std::string part = command.substr(at, command.find(" --", at + 1) - at);
    if (at > 0 && column + part.size() + 2 > help_columns()) lines += " \\\n       ", column = 7;
    lines += part;
    column += part.size();
    at += part.size();
  }
  return lines;
}

/// Key of an option in the report: "memory_budget" for "--memory-budget".
std::string key_of(const std::string& option) {
  std::string key = option.substr(2, option.find(',') - 2);  // the first of "--a,!--no-a"
  std::ranges::replace(key, '-', '_');
  return key;
}

}  // namespace

Option& Option::expected(int values) {
  option_->expected(values);
  return *this;
}

Option& Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option& Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::default_str(const std::string& words) {
  option_->default_str(words);
  return *this;
}

struct Program::State {
  CommonOptions& options;
  CLI::App app{};
  std::vector<std::pair<std::string, std::function<nlohmann::json()>>> settings = {};
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  /// Adds an option that is not a setting of the report.
  template <class T>
  CLI::Option* add(const std::string& name, T& value, const std::string& what, const Check& check) {
    CLI::Option* option = app.add_option(name, value, what);
    return check.wrong ? option->check(check.wrong, check.description) : option;
  }
};

Program::~Program() = default;

Program::Program(const std::string& name, const Card& card, CommonOptions& options)
    : state_(new State{options}) {
  options.out = name + ".out";
  CLI::App& app = state_->app;
  app.name(name);
  app.description(join(card.summary, ". ", card.lesson));
  std::string footer = join("Without options it takes ", card.duration, ". Try\n");
  const char* installed = std::getenv("LADON_RUNNER");  // command that started the program
  const std::string runner = join("  ", installed != nullptr ? installed : "examples/run", " ");
  for (const Trial& trial : card.trials)
    footer += join("\n", in_lines(runner + trial.command), "\n      ",
                   wrapped(trial.watch, help_columns(), 6), "\n");
  app.footer(footer);
  app.formatter(std::make_shared<Help>());
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", join(name, " ", version(), " (", commit, ")"),
                       "Version of Ladon, and the commit. To report a fault");
  option("--seed", options.seed, "Seed of everything random",
         "With other seeds, results that are due to chance change", whole_number<std::uint64_t>(0));
  state_->add("--threads", options.threads,
              "Number of threads; 0 uses every core. Use fewer to leave cores to other work; no "
              "result but the time depends on it",
              whole_number(0, most_threads));
  state_->add("--out", options.out,
              "Folder for pictures and their data. Choose another folder to keep the pictures of "
              "several runs",
              name_of("a folder"));
  app.add_flag("--panels", options.panels,
               "Draw every panel as a separate slide, too. To show single panels, and those that "
               "the pictures leave out");
  state_->add(
      "--json", options.json,
      "Write all numbers of tables and pictures to this file. To plot or test them elsewhere",
      name_of("a file"));
}

template <class T>
Option Program::option(const std::string& name, T& value, const std::string& what,
                       const std::string& when, const Check& check) {
  setting(key_of(name), [&value] { return nlohmann::json(value); });
  return Option(state_->add(name, value, what + ". " + when, check));
}

template <class T>
Option Program::list(const std::string& name, std::vector<T>& values, const std::string& what,
                     const std::string& when, const Check& check) {
  setting(key_of(name), [&values] { return nlohmann::json(values); });
  return Option(state_->add(name, values, what + ". " + when, check)->delimiter(','));
}

void Program::flag(const std::string& name, bool& value, const std::string& what) {
  setting(key_of(name), [&value] { return nlohmann::json(value); });
  state_->app.add_flag(name, value, what);
}

void Program::page_option() {
  state_->add("--page", state_->options.page,
              "Write an interactive page for a browser: one file, which needs no network. To teach "
              "with it, or to explore",
              name_of("a file"));
}

void Program::setting(const std::string& name, std::function<nlohmann::json()> value) {
  state_->settings.emplace_back(name, std::move(value));
}

void Program::check(std::function<void()> usage) {
  state_->app.callback([usage = std::move(usage)] {
    try {
      usage();
    } catch (const UsageError& error) {
      throw CLI::ValidationError(error.what());
    }
  });
}

int Program::run(int argc, char** argv, const std::function<bool()>& body) {
  try {
    state_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return state_->app.exit(error) == 0 ? 0 : 2;
  }
  ranks::Session session;
  if (ranks::rank() > 0) std::cout.setstate(std::ios_base::badbit);  // only the first rank prints
  const std::string& name = state_->app.get_name();
  try {
    if (state_->options.threads > 0) set_num_threads(state_->options.threads);
    prepare_output(name, state_->options);
    catch_interrupts();
    if (body()) return 0;
    std::cerr << name << ": interrupted; finished results are reported\n";
    return 130;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    session.fail();
    return 1;
  }
}

void Program::write(const Report& report) const {
  if (state_->options.json.empty()) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - state_->start;
  nlohmann::json settings;
  for (const auto& [name, value] : state_->settings) settings[name] = value();
  nlohmann::ordered_json all{{"schema", 2},
                             {"example", state_->app.get_name()},
                             {"version", version()},
                             {"commit", commit},
                             {"settings", settings},
                             {"threads", num_threads()},
                             {"seconds", spent.count()}};
  all.update(as_json(report));
  write_atomically(state_->options.json, all.dump(2) + "\n");
}

void Program::write_page(const std::function<Page()>& make) const {
  if (state_->options.page.empty()) return;
  Page page = make();
  page.data["program"] = state_->app.get_name();  // shown at the end of the page
  write_atomically(state_->options.page, html(page));
  std::cout << "page: " << state_->options.page.string() << '\n';
}

int run_program(int argc, char** argv, const std::string& name, const Card& card,
                bool (*study)(const CommonOptions&, const Program&), bool has_page) {
  CommonOptions options;
  Program program(name, card, options);
  if (has_page) program.page_option();
  return program.run(argc, argv, [&] { return study(options, program); });
}

// The types of values that options may have.
using Text = const std::string&;
template Option Program::option(Text, std::string&, Text, Text, const Check&);
template Option Program::option(Text, std::filesystem::path&, Text, Text, const Check&);
template Option Program::option(Text, int&, Text, Text, const Check&);
template Option Program::option(Text, std::int64_t&, Text, Text, const Check&);
template Option Program::option(Text, std::uint64_t&, Text, Text, const Check&);
template Option Program::option(Text, double&, Text, Text, const Check&);
template Option Program::option(Text, std::vector<std::string>&, Text, Text, const Check&);
template Option Program::list(Text, std::vector<std::string>&, Text, Text, const Check&);
template Option Program::list(Text, std::vector<int>&, Text, Text, const Check&);
template Option Program::list(Text, std::vector<std::int64_t>&, Text, Text, const Check&);
template Option Program::list(Text, std::vector<double>&, Text, Text, const Check&);

}  // namespace ladon::example
