#include "ladon/core/extra/io/idx.h"

#include <bit>

#include "ladon/tests/core/io/damaged.h"

namespace ladon::idx_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::TemporaryFolder;
using test::write;

/// `value` as `count` big-endian bytes.
std::string big_endian(std::uint64_t value, int count) {
  const std::string reversed = test::little_endian(value, count);
  return {reversed.rbegin(), reversed.rend()};
}

std::string header(int type, const std::vector<std::uint64_t>& sizes) {
  std::string bytes = {'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const std::uint64_t size : sizes) bytes += big_endian(size, 4);
  return bytes;
}

TEST(Idx, ReadsEveryElementType) {
  const auto file = [](int type, int width, const std::vector<std::uint64_t>& values) {
    std::string bytes = header(type, {values.size()});
    for (const std::uint64_t value : values) bytes += big_endian(value, width);
    return bytes;
  };
  const auto bits32 = [](float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)}; };
  const auto bits64 = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  expect_same(parse_idx(file(0x08, 1, {0, 127, 128, 255}), "x"), tensor({0, 127, 128, 255}, i64));
  expect_same(parse_idx(file(0x09, 1, {0, 127, 128, 255}), "x"), tensor({0, 127, -128, -1}, i64));
  expect_same(parse_idx(file(0x0B, 2, {258, 0x8000}), "x"), tensor({258, -32768}, i64));
  expect_same(parse_idx(file(0x0C, 4, {16909060, 0xFFFFFFFE}), "x"), tensor({16909060, -2}, i64));
  expect_same(parse_idx(file(0x0D, 4, {bits32(1.5f), bits32(-3e-39f)}), "x"),
              tensor({1.5, -3e-39f}));
  expect_same(parse_idx(file(0x0E, 8, {bits64(1e300), bits64(-0.1)}), "x"),
              tensor({1e300, -0.1}, f64));
  for (const DType type : {f32, f64, i64}) {
    expect_same(parse_idx(file(0x09, 1, {7, 255}), "x", type), tensor({7, -1}, type));
    expect_same(parse_idx(file(0x0B, 2, {258, 0x8000}), "x", type), tensor({258, -32768}, type));
    EXPECT_EQ(parse_idx(file(0x0E, 8, {0}), "x", type).dtype(), f64) << "floats keep their type";
  }
}

TEST(Idx, ReadsOneToEightAxesAndEmptyOnes) {
  const TemporaryFolder folder;
  const std::string six = {'\1', '\2', '\3', '\4', '\5', '\6'};
  expect_same(read_idx(write(folder, header(8, {2, 3}) + six)),
              tensor({1, 2, 3, 4, 5, 6}, {2, 3}, i64));
  expect_same(parse_idx(header(8, {1, 2, 1, 1, 3, 1, 1, 1}) + six, "x", f32),
              tensor({1, 2, 3, 4, 5, 6}, {1, 2, 1, 1, 3, 1, 1, 1}));
  EXPECT_EQ(parse_idx(header(8, {0, 28, 28}), "x").shape(), Shape({0, 28, 28}));
}

TEST(Idx, NamesTheFileAndBothValues) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_idx(path); }, "[read_idx] " + path + ": " + fragment);
  };
  const std::string unlike =
      "is not an IDX file, which starts with two zero bytes, an element type and a number of axes; ";
  refuse("", unlike + "it has 0 bytes; check the path");
  refuse(std::string("\1\0\x08\1", 4), unlike + "it has 4 bytes; check the path");
  refuse(header(0x0A, {1}) + "x", "the element type 10 is not one of 8 (unsigned byte)");
  refuse(header(8, {}), "has 0 axes, needs 1 to 8");
  refuse(header(8, std::vector<std::uint64_t>(9, 1)) + "x", "has 9 axes, needs 1 to 8");
  refuse(header(8, {1, 2}).substr(0, 11),
         "the header of 2 axes has 12 bytes, but the file has only 11");
  refuse(header(8, {2, 3}) + "12345",
         "shape [2, 3] with 1 bytes per element needs 6 bytes, but 5 follow the header");
  refuse(header(0x0E, {1}) + "123456789",
         "shape [1] with 8 bytes per element needs 8 bytes, but 9 follow");
  // Sizes whose product wraps around 2^64, to 0 bytes and to the file's.
  const std::uint64_t large = 1u << 31;
  refuse(header(8, {large, large, 4}),
         "shape [2147483648, 2147483648, 4] needs more than 2^63 bytes");
  refuse(header(8, {0xFFFFFFFF, 0xFFFFFFFF}) + "x",
         "shape [4294967295, 4294967295] needs more than 2^63 bytes");
  refuse(header(8, {large, large / 8}) + "x",
         "shape [2147483648, 268435456] with 1 bytes per element needs 576460752303423488 bytes, "
         "but 1 follow");
  refuse(header(8, {0, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}),
         "shape [0, 4294967295, 4294967295, 4294967295] needs more than 2^63 bytes");
  expect_error([] { parse_idx("\x1f\x8b\x08", "x"); }, "x: is compressed by gzip; decompress it");
  expect_error([] { parse_idx(header(8, {0}), "x", boolean); }, "as i64, f32 or f64, not bool");
  const std::string missing = folder / "missing";
  expect_error([&] { read_idx(missing); }, missing + ": cannot open");
}

TEST(Idx, TruncationsAndMutationsAreReadOrRefused) {
  const std::string bytes = header(0x0B, {2, 3}) + "abcdefghijkl";
  test::expect_truncations_fail(bytes, [](const std::string& path) { read_idx(path); });
  const auto read = [](const std::string& path) { EXPECT_LE(read_idx(path).count(), 60); };
  const int refused = test::refused_mutations(bytes, 3000, 11, read);
  EXPECT_GT(refused, 1500);
  EXPECT_LT(refused, 3000);
}

}  // namespace
}  // namespace ladon::idx_test
