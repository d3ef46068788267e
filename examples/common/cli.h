#pragma once
// What every example's command line has in common: its options, exit statuses and error line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace ladon::example {

struct CommonOptions {
  std::uint64_t seed = 1;
  int threads = 0;             ///< 0: as many as cores.
  std::filesystem::path out;   ///< Folder of pictures and data.
  std::filesystem::path json;  ///< Every figure the table prints; empty: none.
};

/// Adds --seed, --threads, --out and --json.
void add_common_options(CLI::App& app, CommonOptions& options);

/// Parses the command line, sets the number of threads, makes the output folder, and runs `body`.
/// Returns the exit status: 0 on success, 2 on bad usage, 1 with a one-line error on stderr.
int run(CLI::App& app, CommonOptions& options, int argc, char** argv,
        const std::function<void()>& body);

}  // namespace ladon::example
