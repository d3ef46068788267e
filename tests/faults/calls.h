#pragma once
// Replacements of malloc and of the system calls by which files are written. They behave as those
// of the C library, except that one chosen call fails; everything linked into the program uses
// them.

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

/// Outcomes of arm() besides errno values: only half of the bytes are transferred, or the process
/// is killed.
inline constexpr int short_count = -1, killed = -2;

/// Makes one call fail: the k-th call (from 0) of this function after arm() has this outcome, an
/// errno value or one of those above. For k < 0 none fails; calls are only counted.
void arm(Call call, std::int64_t k, int outcome);
/// Returns the number of calls of that function since arm(), and stops counting.
std::int64_t disarm();

}  // namespace ladon::faults
