#pragma once
// Stamps of what passed: where nothing has changed by which it could fail, it need not run again.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace ladon::test {

/// Section of a program with what changes at every commit and not what it computes: the commit that
/// it names (examples/common/commit.cmake).
inline constexpr const char* section_of_commit = ".ladon_commit";

/// Fingerprint of what a program computes with: the bytes of it that are loaded, but for its build
/// ID and the section above, and every shared library that it loads. Linked with unused sections
/// removed it holds no function that the program cannot reach. Nothing where the programs `objcopy`
/// (of binutils) and `ldd` are missing, or cannot read it.
std::optional<std::uint64_t> fingerprint_of_program(const std::filesystem::path& program);

/// What a command prints; empty where it fails.
std::string printed_by(const std::string& command);

/// Folder of small files, one for each fingerprint that has passed, of the name of it. Where it
/// cannot be written nothing is kept.
class Stamps {
 public:
  /// $LADON_CACHE, else $XDG_CACHE_HOME, else ~/.cache; below it ladon/printed.
  static std::filesystem::path folder();

  explicit Stamps(std::filesystem::path folder) : folder_(std::move(folder)) {}
  bool has(std::uint64_t fingerprint) const;
  /// `what` passed: text for a reader of the folder.
  void add(std::uint64_t fingerprint, const std::string& what) const;

 private:
  std::filesystem::path file(std::uint64_t fingerprint) const;
  std::filesystem::path folder_;
};

/// File of the fingerprints that things of a name passed with last, a line each:
///   00c0ffee00c0ffee examples/posterior/README.md
class Record {
 public:
  explicit Record(std::filesystem::path file);
  bool has(const std::string& name, std::uint64_t fingerprint) const;
  void set(const std::string& name, std::uint64_t fingerprint) { passed_[name] = fingerprint; }
  /// Writes the file, in the order of names; leaves out what was not set since it was read.
  void write() const;

 private:
  std::filesystem::path file_;
  std::map<std::string, std::uint64_t> before_, passed_;
};

}  // namespace ladon::test
