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
  std::string json = {};  ///< A file; empty: none.
  std::string from = {};  ///< The report of a run before; empty: none.
  bool check_only = false;
  bool list = false;
  bool help = false;
};

/// `defaults`, changed by the arguments. Throws std::invalid_argument for what it does not know.
Options parse(int argc, char** argv, Options defaults);

/// BLAS and malloc read the environment when they are loaded: so what cripples BLAS is taken out of
/// it, LibTorch's allocator is told to keep what it has, and the program starts once more.
void restart_with_a_fair_environment(char** argv);

/// A line that the next one replaces, on a terminal alone.
void progress(const std::string& text);

/// Throws std::runtime_error where the file cannot be written.
void write_json(const std::string& file, const nlohmann::json& report);

}  // namespace ladon::bench
