#pragma once
// Arguments and exit statuses of the programs of this folder.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

/// Path of a file in the data folder, which is the program's first argument. If the file does not
/// exist, ends the program with status 77, which ctest counts as skipped.
inline std::string data_file(char** argv, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(argv[1] ? argv[1] : ".") / name;
  if (std::filesystem::exists(path)) return path.string();
  std::cout << "skipped: there is no " << path.string() << '\n';
  std::exit(77);
}

/// Ends the program with status 1 unless the condition holds.
inline void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cout << "wrong: " << what << '\n';
  std::exit(1);
}
