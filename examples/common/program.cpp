#include "ladon/examples/common/program.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/ranks/ranks.h"
#include "ladon/core/version.h"
#include "ladon/examples/common/help.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

extern const char commit[128];  // made by commit.cmake

namespace {

constexpr int most_threads = 1024;  // as set_num_threads

/// Throws Error, naming the option, where write_atomically would fail. Nothing is left behind.
void check_writable(const char* option, const std::filesystem::path& path) {
  struct Tried {};
  try {
    write_atomically(path, [](OutputFile&) { throw Tried{}; });
  } catch (const Tried&) {
  } catch (const Error& error) {
    throw Error(join(option, ": ", error.what()));
  }
}

/// Hours of work must not end with a file that cannot be written.
void prepare_output(const std::string& name, const CommonOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) throw Error(join("--out: cannot make ", options.out.string(), ": ", error.message()));
  check_writable("--out", options.out / (name + ".gp"));
  if (!options.json.empty()) check_writable("--json", options.json);
  if (!options.page.empty()) check_writable("--page", options.page);
}

/// A command that a shell understands, in lines of the help's width where its options allow.
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

}  // namespace

Program::Program(const std::string& name, const Card& card, CommonOptions& options)
    : options_(options) {
  options.out = name + ".out";
  app_.name(name);
  app_.description(join(card.summary, ". ", card.lesson));
  std::string footer = join("Without options it takes ", card.duration, ". Try\n");
  const char* installed = std::getenv("LADON_RUNNER");  // the command that started the program
  const std::string runner = join("  ", installed != nullptr ? installed : "examples/run", " ");
  for (const Trial& trial : card.trials)
    footer += join("\n", in_lines(runner + trial.command), "\n      ",
                   wrapped(trial.watch, help_columns(), 6), "\n");
  app_.footer(footer);
  app_.formatter(std::make_shared<Help>());
  app_.option_defaults()->always_capture_default();
  app_.set_version_flag("--version", join(name, " ", version(), " (", commit, ")"),
                        "Version of Ladon, and the commit. To report a fault");
  option("--seed", options.seed, "Seed of everything random",
         "Another one shows which findings are luck")
      ->check(whole_number<std::uint64_t>(0));
  const auto outside = [&](const char* of, auto& value, const char* what) {  // of the settings
    return app_.add_option(of, value, what);
  };
  outside("--threads", options.threads,
          "Threads; 0 takes every core. Leave some to other work; no figure depends on it but the "
          "time")
      ->check(whole_number(0, most_threads));
  outside("--out", options.out,
          "Folder for pictures and their data. Name one a run, to keep the pictures of both")
      ->check(name_of("a folder"));
  app_.add_flag("--panels", options.panels,
                "Draw every panel as a slide of its own, too. To show one alone, and those that "
                "the pictures leave out");
  outside("--json", options.json,
          "Write every figure of table and picture to this file. To draw or test them elsewhere")
      ->check(name_of("a file"));
}

CLI::Option* Program::flag(const std::string& name, bool& value, const std::string& what) {
  setting(key_of(name), [&value] { return nlohmann::json(value); });
  return app_.add_flag(name, value, what);
}

void Program::page_option() {
  app_.add_option("--page", options_.page,
                  "Write a page to turn things on, for a browser: one file, without a network. To "
                  "teach with it, or to play")
      ->check(name_of("a file"));
}

std::string Program::key_of(const std::string& option) {
  std::string key = option.substr(2, option.find(',') - 2);  // of "--finite,!--no-finite" the first
  std::ranges::replace(key, '-', '_');
  return key;
}

int Program::run(int argc, char** argv, const std::function<bool()>& body) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_.exit(error) == 0 ? 0 : 2;
  }
  ranks::Session session;
  if (ranks::rank() > 0) std::cout.setstate(std::ios_base::badbit);  // the first speaks for all
  const std::string& name = app_.get_name();
  try {
    if (options_.threads > 0) set_num_threads(options_.threads);
    prepare_output(name, options_);
    catch_interrupts();
    if (body()) return 0;
    std::cerr << name << ": interrupted; what was finished is reported\n";
    return 130;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    session.fail();
    return 1;
  }
}

void Program::write(const Report& report) const {
  if (options_.json.empty()) return;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  nlohmann::json settings;
  for (const auto& [name, value] : settings_) settings[name] = value();
  nlohmann::ordered_json all{{"schema", 2},
                             {"example", app_.get_name()},
                             {"version", version()},
                             {"commit", commit},
                             {"settings", settings},
                             {"threads", num_threads()},
                             {"seconds", spent.count()}};
  all.update(as_json(report));
  write_atomically(options_.json, all.dump(2) + "\n");
}

void Program::write_page(const std::function<Page()>& make) const {
  if (options_.page.empty()) return;
  Page page = make();
  page.data["program"] = app_.get_name();  // named at the page's end
  write_atomically(options_.page, html(page));
  std::cout << "page: " << options_.page.string() << '\n';
}

int run_program(int argc, char** argv, const std::string& name, const Card& card,
                bool (*study)(const CommonOptions&, const Program&), bool has_page) {
  CommonOptions options;
  Program program(name, card, options);
  if (has_page) program.page_option();
  return program.run(argc, argv, [&] { return study(options, program); });
}

}  // namespace ladon::example
