#include "ladon/core/io/idx.h"

#include <bit>
#include <concepts>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/io/elements.h"
#include "ladon/core/io/gzip.h"

namespace ladon {
namespace {

/// The first sizeof(Bits) bytes as a big-endian number.
template <std::unsigned_integral Bits>
Bits big_endian(const char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<Bits>(value);
}

struct Header {
  FileType type;
  Shape shape;
  std::size_t bytes;  ///< Length of the header itself.
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
                   " is not one of 8 (unsigned byte), 9 (byte), 11 (short), 12 (int), "
                   "13 (float), 14 (double)");
  }
}

Header parse_header(std::string_view bytes, const std::string& name) {
  LADON_CHECK(!bytes.starts_with("\x1f\x8b"), "read_idx", name,
              ": is compressed by gzip; decompress it first");
  LADON_CHECK(bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0, "read_idx", name, ": its ",
              bytes.size(),
              " bytes do not start with two zeros, an element type and a number of axes");
  const FileType type = element_type(name, static_cast<unsigned char>(bytes[2]));
  const auto axes = static_cast<unsigned char>(bytes[3]);
  LADON_CHECK(axes >= 1 && axes <= Shape::max_rank, "read_idx", name, ": has ", int{axes},
              " axes, needs 1 to ", Shape::max_rank);
  const std::size_t length = 4 + 4 * std::size_t{axes};
  LADON_CHECK(bytes.size() >= length, "read_idx", name, ": the header of ", int{axes}, " axes has ",
              length, " bytes, but the file only ", bytes.size(), "; it is truncated");
  Shape shape = Shape::filled(axes, 0);
  for (int i = 0; i < axes; ++i) shape[i] = big_endian<std::uint32_t>(bytes.data() + 4 + 4 * i);
  return {type, shape, length};
}

/// Elements that are stored as Bits and mean Value → To.
template <class Value, class Bits, class To>
void convert(const char* from, Tensor& x) {
  To* to = x.mutable_data<To>();
  for (std::int64_t i = 0; i < x.count(); ++i)
    to[i] = static_cast<To>(std::bit_cast<Value>(big_endian<Bits>(from + i * sizeof(Bits))));
}

template <class Value, class Bits>
void convert_integers(const char* from, Tensor& x) {
  if (x.dtype() == f32) return convert<Value, Bits, float>(from, x);
  if (x.dtype() == f64) return convert<Value, Bits, double>(from, x);
  convert<Value, Bits, std::int64_t>(from, x);
}

}  // namespace

Tensor parse_idx(std::string_view bytes, const std::string& name, DType integers) {
  LADON_CHECK(integers != boolean, "read_idx", name, ": integers are read as i64, f32 or f64, not ",
              integers);
  const Header header = parse_header(bytes, name);
  const std::uint64_t needed = checked_bytes("read_idx", name, header.type, header.shape);
  LADON_CHECK(needed == bytes.size() - header.bytes, "read_idx", name, ": shape ", header.shape,
              " with ", item_size(header.type), " bytes an element needs ", needed, " bytes, but ",
              bytes.size() - header.bytes, " follow the header");
  const DType natural = dtype_of(header.type);
  Tensor x = empty(header.shape, natural == i64 ? integers : natural);
  const char* from = bytes.data() + header.bytes;
  switch (header.type) {
    case FileType::u1:
      convert_integers<std::uint8_t, std::uint8_t>(from, x);
      break;
    case FileType::i1:
      convert_integers<std::int8_t, std::uint8_t>(from, x);
      break;
    case FileType::i2:
      convert_integers<std::int16_t, std::uint16_t>(from, x);
      break;
    case FileType::i4:
      convert_integers<std::int32_t, std::uint32_t>(from, x);
      break;
    case FileType::f4:
      convert<float, std::uint32_t, float>(from, x);
      break;
    default:
      convert<double, std::uint64_t, double>(from, x);
  }
  return x;
}

Tensor read_idx(const std::string& path, DType integers) {
  return parse_idx(read_maybe_gzip(path), path, integers);
}

}  // namespace ladon
