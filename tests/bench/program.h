#pragma once
// Options, environment and reports of the programs that compare with another library.

#include <nlohmann/json_fwd.hpp>
#include <regex>
#include <string>
#include <vector>

namespace ladon::bench {

struct Options {
  std::regex rows{""};
  std::vector<int> threads = {};
  int repeats = 0;
  std::string json = {};  ///< File for the report; empty: none.
  std::string from = {};  ///< Report of an earlier run; empty: none.
  bool check_only = false;
  bool list = false;
  bool help = false;
};

/// Returns `defaults` with the changes that the arguments make. Throws std::invalid_argument for an
/// unknown argument.
Options parse(int argc, char** argv, Options defaults);

/// Starts the program once more with an environment in which both libraries are fast: without the
/// variables that slow BLAS down, and with one that tells malloc, which LibTorch uses, to keep
/// freed memory. BLAS and malloc read the environment only when they are loaded.
void restart_with_a_fair_environment(char** argv);

/// Shows a progress line, which the next one replaces; only on a terminal.
void progress(const std::string& text);

/// Throws std::runtime_error if the file cannot be written.
void write_json(const std::string& file, const nlohmann::json& report);

}  // namespace ladon::bench
