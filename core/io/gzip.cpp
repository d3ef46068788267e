#include "ladon/core/io/gzip.h"

#ifdef LADON_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <memory>

#include "ladon/core/error.h"
#include "ladon/core/io/file.h"

namespace ladon {

#ifdef LADON_ZLIB
namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;
constexpr int gzip_with_largest_window = 15 + 16;

/// Takes one member off the front of `bytes` and appends what it holds to `out`.
void inflate_member(const std::string& path, std::string_view& bytes, std::string& out,
                    std::uint64_t limit) {
  z_stream stream{};
  LADON_CHECK(inflateInit2(&stream, gzip_with_largest_window) == Z_OK, "read_maybe_gzip", path,
              ": zlib cannot start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  for (int status = Z_OK; status != Z_STREAM_END;) {
    // zlib counts in 32 bits and reads through a pointer that is not const.
    const std::size_t given = std::min(bytes.size(), chunk), before = out.size();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(given);
    out.resize(before + chunk);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = chunk;
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    bytes.remove_prefix(given - stream.avail_in);
    LADON_CHECK(status != Z_BUF_ERROR, "read_maybe_gzip", path,
                ": the gzip stream is truncated after ", out.size(), " bytes of content");
    LADON_CHECK(status == Z_OK || status == Z_STREAM_END, "read_maybe_gzip", path,
                ": the gzip stream is corrupt after ", out.size(),
                " bytes of content: ", stream.msg ? stream.msg : "zlib gives no reason");
    LADON_CHECK(out.size() <= limit, "read_maybe_gzip", path,
                ": decompresses to more than the limit of ", limit, " bytes");
  }
}

}  // namespace

bool has_gzip() { return true; }

#else

bool has_gzip() { return false; }

#endif

std::string read_maybe_gzip(const std::string& path, std::uint64_t limit,
                            [[maybe_unused]] std::uint64_t unpacked_limit) {
  std::string file = read_file(path, limit);
  if (!file.starts_with("\x1f\x8b")) return file;
#ifdef LADON_ZLIB
  std::string out;
  for (std::string_view bytes = file; !bytes.empty();)
    inflate_member(path, bytes, out, unpacked_limit);
  return out;
#else
  detail::fail("read_maybe_gzip", path,
               ": is compressed by gzip; decompress it first (this build of Ladon has no zlib)");
#endif
}

}  // namespace ladon
