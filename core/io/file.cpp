#include "ladon/core/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ladon/core/error.h"

namespace ladon {
namespace {

namespace fs = std::filesystem;

// Linux transfers at most this many bytes in one call.
constexpr std::size_t largest_transfer = 0x7ffff000;

[[noreturn]] void fail_with_errno(std::string_view operation, const std::string& path,
                                  std::string_view what) {
  detail::fail(operation, path, ": ", what, ": ", std::generic_category().message(errno));
}

// Where a write to `path` ends up. Renaming over a link, a device or a pipe would destroy it.
fs::path resolve(const std::string& path) {
  std::error_code error;
  fs::path target = path;
  if (fs::is_symlink(fs::symlink_status(target, error))) {
    target = fs::weakly_canonical(target, error);
    LADON_CHECK(!error, "write_atomically", path, ": cannot follow the link: ", error.message());
  }
  const fs::file_status status = fs::status(target, error);
  LADON_CHECK(!fs::exists(status) || fs::is_regular_file(status), "write_atomically", path,
              ": exists and is not a regular file");
  return target;
}

// A new file beside the target: opened on construction, removed on destruction unless renamed.
class Temporary {
 public:
  Temporary(const std::string& path, const fs::path& target) : path_(path), target_(target) {
    static std::atomic<unsigned> counter{0};
    do {
      const std::string name = detail::join(".ladon-", getpid(), "-", counter++, ".tmp");
      name_ = (target.parent_path() / name).string();
      descriptor = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor < 0 && errno == EEXIST);
    if (descriptor < 0) fail_with_errno("write_atomically", path_, "cannot write in its folder");
    struct stat old;
    if (stat(target.c_str(), &old) == 0 && fchmod(descriptor, old.st_mode & 07777) != 0)
      abandon("cannot keep its permissions");
  }

  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  ~Temporary() {
    if (descriptor >= 0) close(descriptor);
    if (!renamed_) unlink(name_.c_str());
  }

  void rename_over_target() {
    if (fsync(descriptor) != 0 || close(std::exchange(descriptor, -1)) != 0)
      fail_with_errno("write_atomically", path_, "cannot flush to the disk");
    if (std::rename(name_.c_str(), target_.c_str()) != 0)
      fail_with_errno("write_atomically", path_, "cannot rename the new file over it");
    renamed_ = true;
    flush_folder();
  }

  int descriptor = -1;

 private:
  // Makes the new name durable. Some file systems cannot do this for folders; the file is whole
  // all the same, so a failure is not one of the write.
  void flush_folder() const {
    const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
    const int handle = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0) return;
    fsync(handle);
    close(handle);
  }

  // The destructor does not run for a constructor that throws.
  [[noreturn]] void abandon(std::string_view what) {
    const int reason = errno;
    close(descriptor);
    unlink(name_.c_str());
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
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno("read_file", path_, "cannot open");
  struct stat status;
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
    detail::fail("read_file", path_, ": is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(void* to, std::size_t bytes) {
  LADON_CHECK(bytes <= remaining(), "read_file", path_, ": ", bytes, " bytes wanted at byte ",
              position_, ", but only ", remaining(), " are left; the file is truncated");
  auto* next = static_cast<char*>(to);
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
  const fs::path target = resolve(path);
  Temporary temporary(path, target);
  OutputFile file(path, temporary.descriptor);
  writer(file);
  temporary.rename_over_target();
}

void write_atomically(const std::string& path, std::string_view bytes) {
  write_atomically(path, [&](OutputFile& file) { file.write(bytes); });
}

}  // namespace ladon
