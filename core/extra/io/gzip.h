#pragma once
// Reading of compressed files, with zlib if the build found it.

#include <cstdint>
#include <string>
#include <string_view>

namespace ladon {

namespace detail {

/// Whether this build of Ladon can decompress files, that is, whether CMake found zlib.
bool has_gzip();

}  // namespace detail

/// The bytes of a file, decompressed if it is a gzip file (RFC 1952; it may have several members),
/// else unchanged. Throws Error, naming the path, for a stream that is truncated or corrupt, if the
/// file has more than `limit` bytes or the decompressed content more than `unpacked_limit` (a small
/// file can expand to a thousand times its size), and for a gzip file if has_gzip() is false.
std::string read_maybe_gzip(const std::string& path, std::uint64_t limit = std::uint64_t{1} << 32,
                            std::uint64_t unpacked_limit = std::uint64_t{1} << 30);

namespace detail {

/// Decompresses a bare deflate stream (RFC 1951), such as a compressed member of a zip file, to its
/// content of `size` bytes. Throws Error, naming `where`, for a corrupt or truncated stream, if the
/// content has a different size, if `size` is above 2^30 or more than deflate can pack in `bytes`,
/// and if has_gzip() is false.
std::string inflate(std::string_view operation, const std::string& where, std::string_view bytes,
                    std::uint64_t size);

}  // namespace detail

}  // namespace ladon
