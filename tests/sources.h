#pragma once
// The library's source files as text, for tests that compare tables with them.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "ladon/tests/folders.h"

namespace ladon::test {

/// Text of each source file of the library without comments, by path.
inline std::map<std::string, std::string> sources() {
  const std::filesystem::path root = source_folder();
  std::map<std::string, std::string> texts;
  for (const char* floor : {"core", "autograd", "layers", "optim"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / floor)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      std::ifstream in(entry.path());
      std::string text;
      for (std::string line; std::getline(in, line);)
        text += line.substr(0, line.find("//")) + '\n';
      texts[std::filesystem::relative(entry.path(), root).string()] = text;
    }
  return texts;
}

/// Matches of the first group of a pattern in a text.
inline std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i)
    found.push_back((*i)[1]);
  return found;
}

}  // namespace ladon::test
