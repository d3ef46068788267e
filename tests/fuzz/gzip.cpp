// Fuzz target that reads compressed files, of at most 1 MB when unpacked.

#include "ladon/core/extra/io/gzip.h"

#include "ladon/tests/fuzz/target.h"

namespace ladon::fuzz {

bool read_gzip(std::string_view bytes) {
  constexpr std::uint64_t limit = 1 << 18;
  const std::string& path = file_of(bytes);
  return accepted(
      [&] { require(read_maybe_gzip(path, limit, limit).size() <= limit, "more than the limit"); });
}

}  // namespace ladon::fuzz
