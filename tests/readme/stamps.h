#pragma once
// Record of passed checks: a check of a program need not run again if nothing has changed that
// could make it fail.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ladon::test {

/// Section of a program file that changes with every commit but has no effect on results: the name
/// of the commit (examples/common/commit.cmake).
inline constexpr const char* section_of_commit = ".ladon_commit";

/// Fingerprint of a program's code: of the bytes that are loaded, without its build ID and the
/// section above, and of every shared library that it loads. Programs are linked without unused
/// sections, so functions that they do not use have no effect. Returns nothing if the programs
/// `objcopy` (of binutils) or `ldd` are missing or cannot read the program.
std::optional<std::uint64_t> fingerprint_of_program(const std::filesystem::path& program);

/// Output of a command; empty if it fails.
std::string printed_by(const std::string& command);

/// Folder with one small file per fingerprint that has passed, named by the fingerprint. If the
/// folder cannot be written, nothing is recorded.
class Stamps {
 public:
  /// $LADON_CACHE, else $XDG_CACHE_HOME, else ~/.cache; below it ladon/printed.
  static std::filesystem::path folder();

  explicit Stamps(std::filesystem::path folder) : folder_(std::move(folder)) {}
  bool has(std::uint64_t fingerprint) const;
  /// Records a fingerprint as passed; `what` describes the check, for people who read the folder.
  void add(std::uint64_t fingerprint, const std::string& what) const;

 private:
  std::filesystem::path file(std::uint64_t fingerprint) const;
  std::filesystem::path folder_;
};

/// File with the last fingerprint with which each named check passed, one per line:
///   00c0ffee00c0ffee examples/posterior/README.md
class Record {
 public:
  explicit Record(std::filesystem::path file);
  bool has(const std::string& name, std::uint64_t fingerprint) const;
  void set(const std::string& name, std::uint64_t fingerprint) { passed_[name] = fingerprint; }
  /// Writes the file, sorted by name, without names that were not set since the file was read.
  void write() const;

 private:
  std::filesystem::path file_;
  std::map<std::string, std::uint64_t> before_, passed_;
};

}  // namespace ladon::test
