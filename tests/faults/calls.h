#pragma once
// The system calls that files are made of, and malloc. This program has its own, which do as the
// system's do but for one, that fails: they stand before those of the C library for all that is
// linked with it.

#include <cstdint>
#include <string_view>

namespace ladon::faults {

enum class Call {
  open,
  read,
  write,
  pread,
  pwrite,
  fsync,
  rename,
  unlink,
  flock,
  fchmod,
  ftruncate,
  malloc
};
inline constexpr int calls = 12;
inline constexpr std::string_view names[calls] = {"open",   "read",   "write",     "pread",
                                                  "pwrite", "fsync",  "rename",    "unlink",
                                                  "flock",  "fchmod", "ftruncate", "malloc"};

/// In place of an errno: half of the bytes are transferred, or the process is killed.
inline constexpr int short_count = -1, killed = -2;

/// From here on the k-th call (from 0) of this name comes to this end, once. k < 0: none does.
void arm(Call call, std::int64_t k, int outcome);
/// Number of calls of that name since; from here on none is counted.
std::int64_t disarm();

}  // namespace ladon::faults
