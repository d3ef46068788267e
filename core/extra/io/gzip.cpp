#include "ladon/core/extra/io/gzip.h"

#ifdef LADON_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <memory>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"

namespace ladon {

#ifdef LADON_ZLIB
namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;
// Values of zlib's windowBits for the largest window (15): 16 is added for a stream with a gzip
// header, and the sign is negative for a stream without a header.
constexpr int gzip_stream = 15 + 16, bare_stream = -15;

/// Decompresses one stream from the front of `bytes` and appends its content to `out`. `room` is a
/// buffer that the caller reuses for many small streams, because clearing a new buffer for each of
/// them would take long.
void take_stream(std::string_view operation, const std::string& where, int kind,
                 std::string_view& bytes, std::vector<char>& room, std::string& out,
                 std::uint64_t limit) {
  z_stream stream{};
  LADON_CHECK(inflateInit2(&stream, kind) == Z_OK, operation, where,
              ": zlib cannot start to decompress; is memory exhausted?");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  const char* name = kind == gzip_stream ? "gzip" : "deflate";
  for (int status = Z_OK; status != Z_STREAM_END;) {
    // zlib counts in 32 bits and reads through a pointer that is not const.
    const std::size_t given = std::min(bytes.size(), chunk);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = static_cast<uInt>(room.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.append(room.data(), room.size() - stream.avail_out);
    bytes.remove_prefix(given - stream.avail_in);
    LADON_CHECK(status != Z_BUF_ERROR, operation, where, ": the ", name,
                " stream is truncated after ", out.size(), " bytes of content");
    LADON_CHECK(status == Z_OK || status == Z_STREAM_END, operation, where, ": the ", name,
                " stream is corrupt after ", out.size(),
                " bytes of content: ", stream.msg ? stream.msg : "zlib gives no reason");
    LADON_CHECK(out.size() <= limit, operation, where, ": decompresses to more than the limit of ",
                limit, " bytes; it is damaged, or needs a higher limit");
  }
}

}  // namespace

bool detail::has_gzip() { return true; }

#else

bool detail::has_gzip() { return false; }

#endif

std::string read_maybe_gzip(const std::string& path, std::uint64_t limit,
                            [[maybe_unused]] std::uint64_t unpacked_limit) {
  std::string file = read_file(path, limit);
  if (!file.starts_with("\x1f\x8b")) return file;
#ifdef LADON_ZLIB
  std::string out;
  std::vector<char> room(chunk);
  for (std::string_view bytes = file; !bytes.empty();)
    take_stream("read_maybe_gzip", path, gzip_stream, bytes, room, out, unpacked_limit);
  return out;
#else
  detail::fail("read_maybe_gzip", path,
               ": is compressed by gzip; decompress it first (this build of Ladon has no zlib)");
#endif
}

std::string detail::inflate(std::string_view operation, const std::string& where,
                            [[maybe_unused]] std::string_view bytes,
                            [[maybe_unused]] std::uint64_t size) {
#ifdef LADON_ZLIB
  constexpr std::uint64_t limit = std::uint64_t{1} << 30, densest = 1032;
  LADON_CHECK(size <= limit && size / densest <= bytes.size(), operation, where, ": ", bytes.size(),
              " deflated bytes claim to hold ", size, " bytes; at most ", limit,
              " bytes are possible, and at most ", densest, " per deflated byte");
  std::string out;
  std::vector<char> room(std::clamp<std::size_t>(size, 1, chunk));
  take_stream(operation, where, bare_stream, bytes, room, out, size);
  LADON_CHECK(bytes.empty() && out.size() == size, operation, where, ": the deflate stream holds ",
              out.size(), " bytes, where ", size, " are stated, and ", bytes.size(),
              " bytes follow it; the file is damaged");
  return out;
#else
  detail::fail(operation, where, ": is deflated, but this build of Ladon has no zlib to read it");
#endif
}

}  // namespace ladon
