#pragma once
// Reading of compressed files, with zlib if the build found it.

#include <cstdint>
#include <string>
#include <string_view>

namespace ladon {

namespace detail {

/// Whether this build of Ladon can decompress: CMake found zlib.
bool has_gzip();

}  // namespace detail

/// The bytes of a file, decompressed if it is a gzip file (RFC 1952, also of several members), else
/// as they are. Throws Error, naming the path, for a stream that is truncated or corrupt, if the
/// file is larger than `limit` bytes or its content than `unpacked_limit` (a small file can expand
/// to a thousand times its size), and for a gzip file if has_gzip() is false.
std::string read_maybe_gzip(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32,
                            std::uint64_t unpacked_limit = std::uint64_t{1} << 30);

namespace detail {

/// Content of a bare deflate stream (RFC 1951: a compressed member of a zip file). Throws Error,
/// naming `where`, for a corrupt or truncated stream, content of another size, a `size` above 2^30
/// or above deflate's largest ratio, and if has_gzip() is false.
std::string inflate(std::string_view operation, const std::string& where, std::string_view bytes,
                    std::uint64_t size);

}  // namespace detail

}  // namespace ladon
