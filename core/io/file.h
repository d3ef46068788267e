#pragma once
// Files: bounded reading, and writing that never leaves half a file behind. All functions throw
// Error for a path that contains a NUL character, at which the system would cut it off.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ladon {

/// A regular file read from front to back. Every Error names the path and the reason.
class InputFile {
 public:
  /// Throws Error if the file is missing, unreadable, or not a regular file (a folder, a pipe).
  explicit InputFile(std::string path);
  /// Reads bytes that are in memory already (a decompressed part of a file) in the same way; `path`
  /// is their name in errors.
  InputFile(std::string path, std::string bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const& { return path_; }
  std::string path() && { return std::move(path_); }
  /// Size of the file in bytes when it was opened, and the number of bytes still to be read.
  std::uint64_t size() const { return size_; }
  std::uint64_t remaining() const { return end_ - position_; }
  /// Moves to byte `begin`; reading then ends before byte `end` ≤ size().
  void select(std::uint64_t begin, std::uint64_t end);
  /// Reads exactly `bytes` bytes; throws Error if fewer are left.
  void read(void* to, std::size_t bytes);

 private:
  std::string path_, bytes_;
  int descriptor_ = -1;  // −1 if the bytes are in bytes_
  std::uint64_t size_ = 0, position_ = 0, end_ = 0;
};

/// The bytes of a whole file. Throws Error, before allocating, if it is larger than `limit`.
std::string read_file(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32);

/// The destination handed to the writer of `write_atomically`.
class OutputFile {
 public:
  void write(const void* from, std::size_t bytes);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }

 private:
  friend void write_atomically(const std::string&, const std::function<void(OutputFile&)>&);
  OutputFile(const std::string& path, int descriptor) : path_(path), descriptor_(descriptor) {}

  const std::string& path_;
  int descriptor_;
};

/// Replaces (or creates) the file `path` by the bytes that `writer` writes, all or nothing: they
/// are written to a new file in the same folder and flushed to the disk, and the new file is
/// renamed over the old file. If anything fails, including by an exception of the writer, the new
/// file is removed and the old file keeps its bytes. If the process is killed, the new file stays
/// behind as .ladon-….tmp until a later write in that folder removes it: each process looks for
/// such files before its first write in a folder, and again after as many writes as the folder has
/// files.
///
/// A symbolic link is followed, even to a file that does not exist yet. The permissions of an
/// existing file are kept; the new file belongs to the user who writes it, and a hard link to the
/// old file keeps the old bytes. Throws Error naming the path and the reason.
void write_atomically(const std::string& path, const std::function<void(OutputFile&)>& writer);
void write_atomically(const std::string& path, std::string_view bytes);

namespace detail {

/// Claims a folder for this process, as long as the object is alive; the folder is made if it is
/// missing. The claim is a lock on the file `.ladon-lock` in the folder. It ends with the process
/// at the latest, even if the process is killed; the file remains, and names the process and its
/// machine. Nothing is claimed on file systems without locks, nor by a process that may not write
/// in the folder.
class FolderLock {
 public:
  /// Throws Error naming the folder if another process has claimed it (the error names that process
  /// too), if the folder cannot be made, or if `.ladon-lock` is a link or a file that Ladon did not
  /// write; such a file is left unchanged.
  FolderLock(std::string_view operation, const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace detail

}  // namespace ladon
