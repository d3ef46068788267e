#pragma once
// Checkpoint of a long computation: a folder with its finished parts.
//
// manifest.txt describes the computation and how it is divided; part_000000.bin, … hold its parts.
// Every file is written under a temporary name and then renamed, so that it is complete or absent;
// a checksum detects later damage. While a run works in the folder, a lock keeps other runs out.
// Ranks (core/extra/ranks/ranks.h) share one folder, on a file system that all ranks can access:
// they claim it together, and each rank writes different parts.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ladon/core/io/file.h"

namespace ladon::detail {

/// 64-bit checksum with one multiplication and one shift per word. If a single word changes, every
/// later state of the checksum changes too.
class Checksum {
 public:
  void add(const void* data, std::size_t bytes);
  void add(const std::string& text) { add(text.data(), text.size()); }
  std::uint64_t value() const { return state_; }
  /// The checksum as 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t state_ = 0x6C61646F6E;
};

/// Content of a manifest file: a title, then lines "name: value".
struct Manifest {
  std::vector<std::pair<std::string, std::string>> entries;

  /// Value of the entry of this name; empty if there is no such entry.
  std::string value(const std::string& name) const;
  /// Value of an entry as a count from 1 to 10⁹ − 1; 0 if it is not such a count.
  std::int64_t number(const std::string& name) const;
  /// Checksum of the title and all entries.
  std::uint64_t identity(const std::string& title) const;
  /// Throws Error naming `operation`, in all ranks, if a value differs between ranks.
  void check_same_in_all_ranks(const std::string& operation) const;
};

/// Reads the bytes of a part and computes their checksum; PartWriter writes them.
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
  /// Claims the folder, which is made if it is missing, for `operation`; among ranks, rank 0 holds
  /// the lock. Throws Error if another run is working in the folder, or if the first line of its
  /// manifest is not `title`.
  PartFolder(std::string operation, std::string title, std::filesystem::path folder);

  /// The folder's manifest when it was claimed; no entries if there was none.
  const Manifest& stored() const { return stored_; }
  /// Writes the manifest, or compares it with the stored manifest if there is one, and removes
  /// parts of other computations. Throws Error if the two manifests differ (the error names the
  /// difference), if the manifest cannot be written, or if ranks pass different manifests.
  void begin(const Manifest& wanted);

  /// Reads a part: calls `take`, which must read `payload` bytes in total. Returns whether the part
  /// exists and is undamaged; if it returns false or throws, discard the bytes that `take` read.
  bool read(std::int64_t part, std::uint64_t payload,
            const std::function<void(PartReader&)>& take) const;
  /// Writes a part; `give` writes its `payload` bytes. Throws Error, and does not write, if a file
  /// of that name exists that is not a part (its first bytes differ from those of a part).
  void write(std::int64_t part, std::uint64_t payload,
             const std::function<void(PartWriter&)>& give) const;
  /// Throws Error if the disk has no room for `bytes` bytes of parts; bytes of parts that are
  /// already in the folder are subtracted. The folder need not exist yet. `hint` is appended to the
  /// message.
  static void check_room(const std::string& operation, const std::filesystem::path& folder,
                         std::uint64_t bytes, const std::string& hint = "");

  const std::filesystem::path& path() const { return folder_; }
  std::string path_of(std::int64_t part) const;
  /// Checksum of the manifest, stored in every part.
  std::uint64_t identity() const { return identity_; }

  /// Manifest of any folder, claimed or not; without entries if the folder has no manifest.
  static Manifest manifest(const std::string& operation, const std::string& title,
                           const std::filesystem::path& folder);

 private:
  void remove_other_parts() const;

  std::string operation_, title_;
  std::filesystem::path folder_;
  std::optional<FolderLock> lock_;  // held by rank 0 only
  Manifest stored_;
  std::uint64_t identity_ = 0;
};

}  // namespace ladon::detail
