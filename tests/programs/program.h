#pragma once
// Arguments and exit statuses of the programs of this folder.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

/// The file of that name in the folder of data, which is the program's first argument. Ends the
/// program with 77, which ctest counts as skipped, where it is not there.
inline std::string data_file(char** argv, const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(argv[1] ? argv[1] : ".") / name;
  if (std::filesystem::exists(path)) return path.string();
  std::cout << "skipped: there is no " << path.string() << '\n';
  std::exit(77);
}

/// Ends the program with 1 unless it holds.
inline void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cout << "wrong: " << what << '\n';
  std::exit(1);
}
