#pragma once
// Options of compare.

#include <regex>
#include <string>
#include <vector>

namespace ladon::bench {

struct Options {
  std::regex rows{""};
  std::vector<int> threads = {1, 2};
  std::string json;  ///< A file; empty: none.
  bool check_only = false;
  bool list = false;
  bool help = false;
};

/// Throws std::invalid_argument for what it does not know.
Options parse(int argc, char** argv);
const char* help();

}  // namespace ladon::bench
