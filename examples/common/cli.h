#pragma once
// What every example's command line has in common: its options, exit statuses and error line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ladon::example {

/// A command to try, and what to watch in what it prints.
struct Trial {
  const char *command, *watch;
};

/// What an example says of itself in --help. The first two stand in its main.cpp under these names,
/// where `examples/run --list` reads them.
struct Card {
  const char *summary, *duration;  ///< Of a run without options.
  const char* lesson;
  std::vector<Trial> trials;
};

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;             ///< 0: as many as cores.
  std::filesystem::path out;   ///< Folder of pictures and data.
  std::filesystem::path json;  ///< Every figure the table prints; empty: none.
};

/// Gives the program its name, its help and the options --seed, --threads, --out and --json.
void set_up(CLI::App& app, const std::string& name, const Card& card, CommonOptions& options);

/// Parses the command line, sets the number of threads, makes the output folder, makes sure that
/// what will be written can be, and runs `body`, which says whether it came to its end: interrupted
/// it returns false (ran_to_the_end), having reported what was finished. Returns the exit status: 0
/// on success, 2 on bad usage, 130 when interrupted, 1 with a one-line error on stderr. Started by
/// mpirun (core/ranks/ranks.h), the first rank alone prints.
int run(CLI::App& app, const CommonOptions& options, int argc, char** argv,
        const std::function<bool()>& body);

}  // namespace ladon::example
