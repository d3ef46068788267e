#include "ladon/core/extra/io/idx.h"

#include <string>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/gzip.h"
#include "ladon/core/io/elements.h"

namespace ladon {
namespace {

struct Header {
  FileType type;
  Shape shape;
  std::size_t bytes;  ///< Length of the header.
};

FileType element_type(const std::string& name, int code) {
  switch (code) {
    case 0x08:
      return FileType::u1;
    case 0x09:
      return FileType::i1;
    case 0x0B:
      return FileType::i2;
    case 0x0C:
      return FileType::i4;
    case 0x0D:
      return FileType::f4;
    case 0x0E:
      return FileType::f8;
    default:
      detail::fail("read_idx", name, ": the element type ", code,
                   " is not one of 8 (unsigned byte), 9 (byte), 11 (short), 12 (int), 13 (float), "
                   "14 (double)");
  }
}

Header parse_header(std::string_view bytes, const std::string& name) {
  LADON_CHECK(!bytes.starts_with("\x1f\x8b"), "read_idx", name,
              ": is compressed by gzip; decompress it first");
  LADON_CHECK(
      bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0, "read_idx", name,
      ": is not an IDX file, which starts with two zero bytes, an element type and a number of "
      "axes; it has ",
      bytes.size(), " bytes; check the path");
  const FileType type = element_type(name, static_cast<unsigned char>(bytes[2]));
  const auto axes = static_cast<unsigned char>(bytes[3]);
  LADON_CHECK(axes >= 1 && axes <= Shape::max_rank, "read_idx", name, ": has ", int{axes},
              " axes, needs 1 to ", Shape::max_rank);
  const std::size_t length = 4 + 4 * std::size_t{axes};
  LADON_CHECK(bytes.size() >= length, "read_idx", name, ": the header of ", int{axes}, " axes has ",
              length, " bytes, but the file has only ", bytes.size(), "; it is truncated");
  Shape shape = Shape::filled(axes, 0);
  for (int i = 0; i < 4 * axes; ++i)
    shape[i / 4] = shape[i / 4] << 8 | static_cast<unsigned char>(bytes[4 + i]);
  return {type, shape, length};
}

Tensor parsed(std::string bytes, const std::string& name, DType integers) {
  LADON_CHECK(integers == i64 || integers == f32 || integers == f64, "read_idx", name,
              ": integers can be read as i64, f32 or f64, not ", integers);
  const Header header = parse_header(bytes, name);
  const std::uint64_t needed = checked_bytes("read_idx", name, header.type, header.shape);
  LADON_CHECK(needed == bytes.size() - header.bytes, "read_idx", name, ": shape ", header.shape,
              " with ", item_size(header.type), " bytes per element needs ", needed, " bytes, but ",
              bytes.size() - header.bytes, " follow the header");
  InputFile file(name, std::move(bytes));
  file.select(header.bytes, file.size());
  return read_elements(file, header.type, header.shape, true, integers);
}

}  // namespace

Tensor parse_idx(std::string_view bytes, const std::string& name, DType integers) {
  return parsed(std::string(bytes), name, integers);
}

Tensor read_idx(const std::string& path, DType integers) {
  return parsed(read_maybe_gzip(path), path, integers);
}

}  // namespace ladon
