#pragma once
// Finished parts of a long computation, in a folder.
//
// manifest.txt says what is computed and how it is cut; part_000000.bin, … hold its parts. Every
// file is written beside its place and renamed, so that it is whole or not there; a checksum finds
// one that was damaged since. While a run works in the folder, a lock keeps others out. Ranks
// (core/ranks/ranks.h) share one folder, on a file system that all of them see: they claim it
// together, and each writes parts of its own.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/io/file.h"

namespace ladon::detail {

/// One multiplication and one shift per word, by which any change of a word changes all later
/// states.
class Checksum {
 public:
  void add(const void* data, std::size_t bytes);
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::uint64_t value() const { return state_; }
  /// 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t state_ = 0x6C61646F6E;
};

/// "name: value" lines after a title.
struct Manifest {
  std::vector<std::pair<std::string, std::string>> entries;

  /// Empty if there is none of this name.
  std::string value(const std::string& name) const;
  /// A count of 1 to 10⁹; 0 if it is none.
  std::int64_t number(const std::string& name) const;
  /// Checksum of the title and all entries.
  std::uint64_t identity(const std::string& title) const;
  /// Throws Error, in all ranks, where one has another value; `operation` is named.
  void check_same_in_all_ranks(const std::string& operation) const;
};

/// Source and destination of the bytes of a part.
class PartReader {
 public:
  void read(void* to, std::size_t bytes) {
    file_.read(to, bytes);
    sum_.add(to, bytes);
  }

 private:
  friend class PartFolder;
  explicit PartReader(InputFile& file) : file_(file) {}
  InputFile& file_;
  Checksum sum_;
};

class PartWriter {
 public:
  void write(const void* from, std::size_t bytes) {
    sum_.add(from, bytes);
    file_.write(from, bytes);
  }

 private:
  friend class PartFolder;
  explicit PartWriter(OutputFile& file) : file_(file) {}
  OutputFile& file_;
  Checksum sum_;
};

class PartFolder {
 public:
  /// Claims the folder, which is made if it is missing, for `operation`; among ranks the first
  /// holds the lock. Throws Error if another run is working in it, or if its manifest begins with
  /// another line than `title`.
  PartFolder(std::string operation, std::string title, std::filesystem::path folder);

  /// The folder's manifest when it was claimed; no entries if there was none.
  const Manifest& stored() const { return stored_; }
  /// Writes the manifest, or compares it with the one stored, and removes parts that are not of it.
  /// Throws Error if they disagree, naming the difference, if it cannot be written, or if ranks
  /// want different ones.
  void begin(const Manifest& wanted);

  /// Calls `take`, which must read `payload` bytes in all, and returns true, if the part is there
  /// and undamaged. Where it was damaged, what was taken is worthless.
  bool read(std::int64_t part, std::uint64_t payload,
            const std::function<void(PartReader&)>& take) const;
  /// `give` writes `payload` bytes. Throws Error where a file of that name does not begin as a part
  /// does: it is of somebody else, and keeps its bytes.
  void write(std::int64_t part, std::uint64_t payload,
             const std::function<void(PartWriter&)>& give) const;
  /// Throws Error where the disk has no room for `bytes` of parts, less those that the folder,
  /// which need not be there, holds already. `hint` ends the message.
  static void check_room(const std::string& operation, const std::filesystem::path& folder,
                         std::uint64_t bytes, const std::string& hint = "");

  const std::filesystem::path& path() const { return folder_; }
  std::string path_of(std::int64_t part) const;
  /// Checksum of the manifest, stored in every part.
  std::uint64_t identity() const { return identity_; }

  /// The manifest of a folder that nobody need have claimed; no entries if there is none.
  static Manifest manifest(const std::string& operation, const std::string& title,
                           const std::filesystem::path& folder);

 private:
  void remove_other_parts() const;

  std::string operation_, title_;
  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;  // of the first rank
  Manifest stored_;
  std::uint64_t identity_ = 0;
};

}  // namespace ladon::detail
