#pragma once
// Files: bounded reading, and writing that never leaves half a file behind.

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
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Size in bytes when it was opened, and how many of them are still to be read.
  std::uint64_t size() const { return size_; }
  std::uint64_t remaining() const { return size_ - position_; }
  /// Reads exactly `bytes` bytes; throws Error if fewer are left.
  void read(void* to, std::size_t bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0, position_ = 0;
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

/// Replaces (or creates) `path` by what `writer` writes, all or nothing: the bytes go to a new file
/// in the same folder, are flushed to the disk, and the file is renamed over the old one. If
/// anything fails, the writer's own exceptions included, the new file is removed and the old one
/// keeps its bytes; if the process is killed, the new file may stay behind as .ladon-….tmp. A
/// symbolic link is followed; the permissions of an existing file are kept. Throws Error naming the
/// path and the reason.
void write_atomically(const std::string& path, const std::function<void(OutputFile&)>& writer);
void write_atomically(const std::string& path, std::string_view bytes);

}  // namespace ladon
