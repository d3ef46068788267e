#pragma once
// Functions declared in public headers, for tests that a table has a row for each of them.

#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ladon::test {

/// Names of the free functions that a header declares outside of namespace detail, one entry per
/// declaration: the word before "(" in a line that begins with a type.
inline std::vector<std::string> declared_functions(const std::filesystem::path& header) {
  std::ifstream in(header);
  std::vector<std::string> names;
  bool internal = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "namespace detail {" || line == "namespace ladon::detail {") internal = true;
    if (line.starts_with("}  // namespace")) internal = false;
    const std::size_t open = line.find('('), space = line.substr(0, open).rfind(' ');
    if (internal || open == std::string::npos || space == std::string::npos) continue;
    if (!std::isalpha(static_cast<unsigned char>(line[0]))) continue;
    const std::string name = line.substr(space + 1, open - space - 1);
    const bool word = name.find_first_of("<>:&*.") == std::string::npos && !name.empty();
    if (word || name.starts_with("operator")) names.push_back(name);
  }
  return names;
}

/// Headers that declare operations: those of the library ladon, and of ladon_extra if it is built.
inline std::vector<std::filesystem::path> operation_headers(const std::filesystem::path& source) {
  std::vector<std::filesystem::path> headers, folders{source / "autograd/ops"};
#ifndef LADON_WITHOUT_EXTRA
  for (const char* name : {"attention", "recurrent", "special", "windows"})
    folders.push_back(source / "autograd/extra" / name);
#endif
  for (const auto& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".h") headers.push_back(entry.path());
  return headers;
}

}  // namespace ladon::test
