#include "ladon/core/io/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are written as they lie in memory, which must be little-endian");

// Reads n elements of type Raw and converts them to type To, through a small buffer.
template <class Raw, class To, class Convert>
void read_as(InputFile& file, To* to, std::int64_t n, bool swap, Convert convert) {
  const std::int64_t chunk = std::min<std::int64_t>(n, (1 << 16) / sizeof(Raw));
  std::vector<char> bytes(static_cast<std::size_t>(chunk) * sizeof(Raw));
  for (std::int64_t done = 0; done < n;) {
    const auto m = std::min(n - done, chunk);
    file.read(bytes.data(), static_cast<std::size_t>(m) * sizeof(Raw));
    for (std::int64_t i = 0; i < m; ++i) {
      char* item = bytes.data() + static_cast<std::size_t>(i) * sizeof(Raw);
      if (swap) std::reverse(item, item + sizeof(Raw));
      Raw raw;
      std::memcpy(&raw, item, sizeof(Raw));
      to[done + i] = convert(raw);
    }
    done += m;
  }
}

template <class Raw, class To>
void read_as(InputFile& file, Tensor& x, bool swap) {
  To* to = x.mutable_data<To>();
  if (std::is_same_v<Raw, To> && !swap) {
    file.read(to, static_cast<std::size_t>(x.count()) * sizeof(To));
    return;
  }
  read_as<Raw>(file, to, x.count(), swap, [](Raw raw) { return static_cast<To>(raw); });
}

template <class Raw>
void read_integers(InputFile& file, Tensor& x, bool swap) {
  if (x.dtype() == f32) return read_as<Raw, float>(file, x, swap);
  if (x.dtype() == f64) return read_as<Raw, double>(file, x, swap);
  read_as<Raw, std::int64_t>(file, x, swap);
}

void read_unsigned(InputFile& file, Tensor& x, bool swap) {
  read_as<std::uint64_t>(
      file, x.mutable_data<std::int64_t>(), x.count(), swap, [&](std::uint64_t raw) {
        constexpr auto largest =
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        LADON_CHECK(raw <= largest, "read_elements", file.path(), ": the unsigned value ", raw,
                    " does not fit in i64, whose largest value is ", largest);
        return static_cast<std::int64_t>(raw);
      });
}

}  // namespace

std::size_t item_size(FileType type) {
  switch (type) {
    case FileType::b1:
    case FileType::i1:
    case FileType::u1:
      return 1;
    case FileType::i2:
    case FileType::u2:
    case FileType::f2:
    case FileType::bf2:
      return 2;
    case FileType::i4:
    case FileType::u4:
    case FileType::f4:
      return 4;
    case FileType::i8:
    case FileType::u8:
    case FileType::f8:
      break;
  }
  return 8;
}

DType dtype_of(FileType type) {
  switch (type) {
    case FileType::b1:
      return boolean;
    case FileType::f2:
      return f16;
    case FileType::bf2:
      return bf16;
    case FileType::f4:
      return f32;
    case FileType::f8:
      return f64;
    default:
      return i64;
  }
}

std::uint64_t checked_bytes(std::string_view operation, const std::string& path, FileType type,
                            const Shape& shape) {
  auto bytes = static_cast<std::int64_t>(item_size(type));
  std::int64_t widened = 8;  // bytes in the widest dtype of a conversion
  bool empty = false;
  for (std::int64_t size : shape) {
    LADON_CHECK(size >= 0, operation, path, ": size ", size, " in shape ", shape, " is negative");
    empty |= size == 0;
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    const bool overflow = __builtin_mul_overflow(widened, factor, &widened);
    LADON_CHECK(!overflow, operation, path, ": shape ", shape,
                " needs more than 2^63 bytes, which no tensor may take");
    bytes *= factor;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

Tensor read_elements(InputFile& file, FileType type, const Shape& shape, bool big_endian,
                     DType integers) {
  const DType natural = dtype_of(type);
  Tensor x = empty(shape, natural == i64 && item_size(type) <= 4 ? integers : natural);
  const bool swap = big_endian;
  switch (type) {
    case FileType::b1:
      read_as<std::uint8_t, bool>(file, x, swap);
      break;
    case FileType::i1:
      read_integers<std::int8_t>(file, x, swap);
      break;
    case FileType::i2:
      read_integers<std::int16_t>(file, x, swap);
      break;
    case FileType::i4:
      read_integers<std::int32_t>(file, x, swap);
      break;
    case FileType::i8:
      read_as<std::int64_t, std::int64_t>(file, x, swap);
      break;
    case FileType::u1:
      read_integers<std::uint8_t>(file, x, swap);
      break;
    case FileType::u2:
      read_integers<std::uint16_t>(file, x, swap);
      break;
    case FileType::u4:
      read_integers<std::uint32_t>(file, x, swap);
      break;
    case FileType::u8:
      read_unsigned(file, x, swap);
      break;
    case FileType::f2:
      read_as<Float16, Float16>(file, x, swap);
      break;
    case FileType::bf2:
      read_as<BFloat16, BFloat16>(file, x, swap);
      break;
    case FileType::f4:
      read_as<float, float>(file, x, swap);
      break;
    case FileType::f8:
      read_as<double, double>(file, x, swap);
      break;
  }
  return x;
}

void write_elements(OutputFile& file, const Tensor& x) {
  const Tensor rows = kernels::contiguous(x);
  visit_stored(rows.dtype(), [&]<class T>() {
    file.write(rows.data<T>(), static_cast<std::size_t>(rows.count()) * sizeof(T));
  });
}

}  // namespace ladon
