#pragma once
// Compressed files, by zlib.

#include <cstdint>
#include <string>

namespace ladon::example {

/// The bytes of a file, decompressed if it is a gzip file (RFC 1952, also of several members), else
/// as they are. Throws Error, naming the path, for a stream that is truncated or corrupt, and where
/// the file or what comes out of it is larger than `limit` bytes: a small file can stand for a
/// thousand times its size.
std::string read_maybe_gzip(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 30);

}  // namespace ladon::example
