#include "ladon/core/io/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

namespace fs = std::filesystem;

// Linux transfers at most this many bytes in one call.
constexpr std::size_t largest_transfer = 0x7ffff000;

// First word of a lock file; the number of the process and the name of its machine follow.
constexpr std::string_view holder = "process ";

[[noreturn]] void fail_with_errno(std::string_view operation, const std::string& path,
                                  std::string_view what, std::string_view hint = "") {
  detail::fail(operation, path, ": ", what, ": ", std::generic_category().message(errno), hint);
}

void check_path(std::string_view operation, const std::string& path) {
  LADON_CHECK(path.find('\0') == std::string::npos, operation, path.c_str(),
              "\\0…: a path must not contain a NUL character, but has one at byte ",
              path.find('\0'));
}

// Destination of a write to `path`: renaming over a link, a device or a pipe would destroy it.
// Links are followed one by one, because the last link may lead to a name that does not exist.
fs::path resolve(const std::string& path) {
  check_path("write_atomically", path);
  constexpr int most_links = 40;  // Linux's own limit
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  LADON_CHECK(!fs::exists(status) || fs::is_regular_file(status), "write_atomically", path,
              ": exists and is not a regular file; write to another path");
  fs::path target = path;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    LADON_CHECK(links < most_links, "write_atomically", path, ": cannot follow the link: ",
                std::make_error_code(std::errc::too_many_symbolic_link_levels).message());
    target = target.parent_path() / fs::read_symlink(target, error);
    LADON_CHECK(!error, "write_atomically", path, ": cannot follow the link: ", error.message());
  }
  // In /proc, a link to an open file that was deleted ends in " (deleted)" and leads to no file.
  LADON_CHECK(!fs::exists(status) || fs::equivalent(path, target, error), "write_atomically", path,
              ": cannot follow the link: its file was deleted and has no name");
  return target;
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// --- temporary files ---
//
// A process locks each temporary file that it writes, and the lock ends with the process. So a
// temporary file that can be locked is a leftover. The process number in the file name does not
// tell this: another container or machine that shares the folder has its own numbers, and numbers
// are reused.

// Whether `name` still refers to the open file, and that file is a regular file.
bool names(const std::string& name, int descriptor) {
  struct stat named, opened;
  return lstat(name.c_str(), &named) == 0 && fstat(descriptor, &opened) == 0 &&
         S_ISREG(opened.st_mode) && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// Whether a file name has the form of a temporary file's: .ladon-PROCESS-NUMBER.tmp.
bool is_temporary(std::string_view name) {
  const auto skip_number = [&] {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits > 0;
  };
  if (!name.starts_with(".ladon-")) return false;
  name.remove_prefix(7);
  if (!skip_number() || !name.starts_with('-')) return false;
  name.remove_prefix(1);
  return skip_number() && name == ".tmp";
}

// A lock over NFS needs a file opened for writing; on other file systems a file opened for reading
// can be locked as well.
int open_to_lock(const std::string& name) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int descriptor = open(name.c_str(), O_WRONLY | flags);
  return descriptor >= 0 ? descriptor : open(name.c_str(), O_RDONLY | flags);
}

// A process scans a folder before its first write there, and again after as many writes as the
// folder had entries, so that n writes take O(n) time even in a folder of n files. A temporary file
// that cannot be removed stays, and the write that follows still succeeds.
void remove_stale_temporaries(const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::int64_t> writes_left;  // number of writes until the next scan
  const std::unique_lock lock(mutex, std::try_to_lock);    // waiting might hang a forked child
  if (!lock) return;
  if (writes_left.size() > 1000) writes_left.clear();
  std::int64_t& left = writes_left[folder.native()];
  if (--left >= 0) return;
  left = 0;
  // std::filesystem's iterator would terminate the program if memory runs out.
  const std::unique_ptr<DIR, void (*)(DIR*)> entries(opendir(folder.c_str()),
                                                     [](DIR* opened) { closedir(opened); });
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) {
    left += entry->d_name[0] != '.';
    if (!is_temporary(entry->d_name)) continue;
    const std::string name = folder / entry->d_name;
    const int descriptor = open_to_lock(name);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 && names(name, descriptor)) unlink(name.c_str());
    close(descriptor);
  }
}

// A new file in the folder of `target`: opened on construction, removed on destruction unless it
// has been renamed.
class Temporary {
 public:
  Temporary(const std::string& path, const fs::path& target) : path_(path), target_(target) {
    remove_stale_temporaries(folder_of(target));
    for (int attempts = 1; !create(); ++attempts)
      LADON_CHECK(attempts < 1000, "write_atomically", path,
                  ": found no free name for a new file in its folder after 1000 attempts");
    struct stat old;
    if (stat(target.c_str(), &old) == 0 && fchmod(descriptor, old.st_mode & 07777) != 0)
      abandon("cannot keep its permissions");
  }

  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  // The lock is released last, with the descriptor, so that no other process removes the file
  // before it is renamed.
  ~Temporary() {
    if (!renamed_) unlink(name_.c_str());
    close(descriptor);
  }

  void rename_over_target() {
    if (fsync(descriptor) != 0)
      fail_with_errno("write_atomically", path_, "cannot flush to the disk");
    if (std::rename(name_.c_str(), target_.c_str()) != 0)
      fail_with_errno("write_atomically", path_, "cannot rename the new file to this path");
    renamed_ = true;
    flush_folder();
  }

  int descriptor = -1;

 private:
  // Makes one attempt at a new name. Returns false if the name is taken, or if another process
  // removed the file as a leftover before it was locked.
  bool create() {
    static std::atomic<unsigned> counter{0};
    name_ = (target_.parent_path() / detail::join(".ladon-", getpid(), "-", counter++, ".tmp"));
    descriptor = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) return false;
    if (descriptor < 0)
      fail_with_errno("write_atomically", described(), "cannot write in its folder",
                      errno == ENOENT ? "; make the folder first" : "");
    struct stat status;
    const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && fstat(descriptor, &status) == 0 && status.st_nlink > 0) return true;
    close(descriptor);
    return false;
  }

  std::string described() const {
    return target_ == path_ ? path_ : path_ + " (a link to " + target_.native() + ")";
  }

  // Flushes the folder, so that the new name survives a crash. Some file systems cannot flush
  // folders; the file is complete anyway, so a failure is ignored.
  void flush_folder() const {
    const int handle = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;
    fsync(handle);
    close(handle);
  }

  // Cleans up in the constructor, which throws: the destructor will not run.
  [[noreturn]] void abandon(std::string_view what) {
    const int reason = errno;
    unlink(name_.c_str());
    close(descriptor);
    errno = reason;
    fail_with_errno("write_atomically", path_, what);
  }

  const std::string& path_;
  const fs::path& target_;
  std::string name_;
  bool renamed_ = false;
};

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  check_path("read_file", path_);
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno("read_file", path_, "cannot open");
  struct stat status;
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    detail::fail("read_file", path_, ": is not a regular file, as it must be");
  }
  size_ = end_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::InputFile(std::string path, std::string bytes)
    : path_(std::move(path)), bytes_(std::move(bytes)), size_(bytes_.size()), end_(size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::select(std::uint64_t begin, std::uint64_t end) {
  LADON_CHECK(begin <= end && end <= size_, "read_file", path_, ": bytes [", begin, ", ", end,
              ") are outside the file, which has ", size_, " bytes");
  if (descriptor_ >= 0 && lseek(descriptor_, static_cast<off_t>(begin), SEEK_SET) < 0)
    fail_with_errno("read_file", path_, "cannot move to another position in it");
  position_ = begin;
  end_ = end;
}

void InputFile::read(void* to, std::size_t bytes) {
  LADON_CHECK(bytes <= remaining(), "read_file", path_, ": ", bytes,
              " bytes are to be read at byte ", position_, ", but only ", remaining(),
              " are left; the file is truncated");
  auto* next = static_cast<char*>(to);
  if (descriptor_ < 0) {
    bytes_.copy(next, bytes, position_);
    position_ += bytes;
    return;
  }
  while (bytes > 0) {
    const ssize_t got = ::read(descriptor_, next, std::min(bytes, largest_transfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read_file", path_, "cannot read");
    LADON_CHECK(got > 0, "read_file", path_, ": became shorter while it was read: ", bytes,
                " bytes are missing at byte ", position_);
    next += got;
    bytes -= static_cast<std::size_t>(got);
    position_ += static_cast<std::uint64_t>(got);
  }
}

std::string read_file(const std::string& path, std::uint64_t limit) {
  InputFile file(path);
  LADON_CHECK(file.size() <= limit, "read_file", path, ": ", file.size(),
              " bytes are more than the limit of ", limit);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size());
  return bytes;
}

void OutputFile::write(const void* from, std::size_t bytes) {
  const auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor_, next, std::min(bytes, largest_transfer));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_with_errno("write_atomically", path_, "cannot write");
    next += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void write_atomically(const std::string& path, const std::function<void(OutputFile&)>& writer) {
  LADON_CHECK(writer, "write_atomically",
              "the writer is an empty function; pass one that writes to the file");
  const fs::path target = resolve(path);
  Temporary temporary(path, target);
  OutputFile file(path, temporary.descriptor);
  writer(file);
  temporary.rename_over_target();
}

void write_atomically(const std::string& path, std::string_view bytes) {
  write_atomically(path, [&](OutputFile& file) { file.write(bytes); });
}

detail::FolderLock::FolderLock(std::string_view operation, const std::string& folder) {
  check_path(operation, folder);
  std::error_code error;
  fs::create_directories(folder, error);
  LADON_CHECK(!error, operation, "cannot make the folder ", folder, ": ", error.message());
  const std::string path = (fs::path(folder) / ".ladon-lock").native();
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string own = detail::join(holder, getpid(), " on ", host);
  // Links are refused, because they may lead to another user's file. Opening a pipe must not wait.
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  // A process that may not write in the folder can only read files there, and needs no lock.
  if (descriptor_ < 0 && (errno == EACCES || errno == EROFS)) return;
  if (descriptor_ < 0) fail_with_errno(operation, path, "cannot be opened as the folder's lock");
  const auto refuse = [&](const auto&... what) {
    close(descriptor_);
    detail::fail(operation, what...);
  };
  char text[300] = {};
  const bool free = flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  const std::string_view held(text, std::max<ssize_t>(pread(descriptor_, text, 299, 0), 0));
  if (!free)
    refuse("the folder ", folder, " is in use by ", held.empty() ? "another process" : held,
           "; wait until that process ends, or use another folder");
  if (!names(path, descriptor_) || !(held.empty() || held.starts_with(holder)))
    refuse(path, ": must be a lock file of Ladon, whose text begins with \"", holder,
           "\", but is another file; move it away, or use another folder");
  const bool written =
      ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, own.data(), own.size(), 0) > 0;
  static_cast<void>(written);  // a failure (a full disk) is ignored: the text is only informative
}

detail::FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace ladon
