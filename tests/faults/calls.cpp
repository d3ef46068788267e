#include "ladon/tests/faults/calls.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>

namespace ladon::faults {
namespace {

std::atomic<bool> armed{false};
std::atomic<std::int64_t> seen{0};
Call which;
std::int64_t wanted;
int outcome;

/// Whether this call is the one that fails, with errno set.
bool fails(Call call) {
  if (!armed.load(std::memory_order_acquire) || call != which) return false;
  if (seen.fetch_add(1) != wanted || outcome == short_count) return false;
  if (outcome == killed) kill(getpid(), SIGKILL);
  errno = outcome;
  return true;
}

/// fails() has counted this call.
std::size_t transferred(Call call, std::size_t bytes) {
  const bool cut = armed && call == which && outcome == short_count && seen == wanted + 1;
  return cut ? std::max<std::size_t>(bytes / 2, 1) : bytes;
}

template <class... Arguments>
int system_call(Call call, long number, Arguments... arguments) {
  return fails(call) ? -1 : static_cast<int>(syscall(number, arguments...));
}

}  // namespace

void arm(Call call, std::int64_t k, int end) {
  which = call;
  wanted = k;
  outcome = end;
  seen = 0;
  armed.store(true, std::memory_order_release);
}

std::int64_t disarm() {
  armed = false;
  return seen;
}

}  // namespace ladon::faults

using namespace ladon::faults;

extern "C" {

void* __libc_malloc(std::size_t bytes);

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return system_call(Call::open, SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t read(int file, void* to, std::size_t n) {
  return fails(Call::read) ? -1 : syscall(SYS_read, file, to, transferred(Call::read, n));
}
ssize_t write(int file, const void* from, std::size_t n) {
  return fails(Call::write) ? -1 : syscall(SYS_write, file, from, transferred(Call::write, n));
}
ssize_t pread(int file, void* to, std::size_t n, off_t at) {
  return fails(Call::pread) ? -1 : syscall(SYS_pread64, file, to, transferred(Call::pread, n), at);
}
ssize_t pwrite(int file, const void* from, std::size_t n, off_t at) {
  return fails(Call::pwrite) ? -1
                             : syscall(SYS_pwrite64, file, from, transferred(Call::pwrite, n), at);
}
/// A disk takes its time, and none loses power here.
int fsync(int) { return fails(Call::fsync) ? -1 : 0; }
int rename(const char* from, const char* to) noexcept {
  return system_call(Call::rename, SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int unlink(const char* path) noexcept {
  return system_call(Call::unlink, SYS_unlinkat, AT_FDCWD, path, 0);
}
int flock(int file, int operation) noexcept {
  return system_call(Call::flock, SYS_flock, file, operation);
}
int fchmod(int file, mode_t mode) noexcept {
  return system_call(Call::fchmod, SYS_fchmod, file, mode);
}
int ftruncate(int file, off_t length) noexcept {
  return system_call(Call::ftruncate, SYS_ftruncate, file, length);
}
void* malloc(std::size_t bytes) noexcept {
  return fails(Call::malloc) ? nullptr : __libc_malloc(bytes);
}

}  // extern "C"
