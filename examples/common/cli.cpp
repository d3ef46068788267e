#include "ladon/examples/common/cli.h"

#include <iostream>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/ranks/ranks.h"
#include "ladon/examples/common/help.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
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

void set_up(CLI::App& app, const std::string& name, const Card& card, CommonOptions& options) {
  options.out = name + ".out";
  app.name(name);
  app.description(join(card.summary, ". ", card.lesson));
  std::string footer = join("Without options it takes ", card.duration, ". Try\n");
  for (const Trial& trial : card.trials)
    footer += join("\n", in_lines(join("  examples/run ", trial.command)), "\n      ",
                   wrapped(trial.watch, help_columns(), 6), "\n");
  app.footer(footer);
  app.formatter(std::make_shared<Help>());
  app.option_defaults()->always_capture_default();
  add(app, "--seed", options.seed, "Seed of everything random",
      "Another one shows which findings are luck")
      ->check(whole_number<std::uint64_t>(0));
  add(app, "--threads", options.threads, "Threads; 0 takes every core",
      "Leave some to other work; no figure depends on it but the time")
      ->check(whole_number(0, most_threads));
  add(app, "--out", options.out, "Folder for pictures and their data",
      "Name one a run, to keep the pictures of both")
      ->check(name_of("a folder"));
  add(app, "--json", options.json, "Write every figure of table and picture to this file",
      "To draw or test them elsewhere")
      ->check(name_of("a file"));
}

int run(CLI::App& app, const CommonOptions& options, int argc, char** argv,
        const std::function<bool()>& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  ranks::Session session;
  if (ranks::rank() > 0) std::cout.setstate(std::ios_base::badbit);  // the first speaks for all
  try {
    if (options.threads > 0) set_num_threads(options.threads);
    prepare_output(app.get_name(), options);
    catch_interrupts();
    if (body()) return 0;
    std::cerr << app.get_name() << ": interrupted; what was finished is reported\n";
    return 130;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    session.fail();
    return 1;
  }
}

}  // namespace ladon::example
