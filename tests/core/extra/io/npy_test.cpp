#include "ladon/core/extra/io/npy.h"

#include <cmath>
#include <limits>

#include "ladon/core/io/file.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::npy_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::little_endian;
using test::TemporaryFolder;
using test::write;

// An array file whose header is `dictionary`.
std::string npy(const std::string& dictionary, const std::string& elements, int version = 1) {
  return std::string("\x93NUMPY", 6) + static_cast<char>(version) + '\0' +
         little_endian(dictionary.size(), version == 1 ? 2 : 4) + dictionary + elements;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

Tensor load(const std::string& bytes) {
  const TemporaryFolder folder;
  return load_npy(write(folder, bytes));
}

void expect_round_trip(const Tensor& x) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, x);
  const Tensor y = load_npy(path);
  expect_same(x, y);
  EXPECT_TRUE(y.contiguous());
  const std::string bytes = read_file(path);
  EXPECT_EQ((bytes.size() - static_cast<std::size_t>(x.count()) * item_size(x.dtype())) % 64, 0u);
}

TEST(Npy, RoundTripsEveryDtypeAndRank) {
  for (const DType t : {boolean, i64, f16, f32, f64}) {
    expect_round_trip(tensor({0, 1, 1, 0, 1, 1}, {2, 3}, t));
    expect_round_trip(scalar(1, t));
    expect_round_trip(empty({0}, t));
    expect_round_trip(empty({2, 0, 3}, t));
    expect_round_trip(ones({1, 2, 1, 2, 1, 2, 1, 2}, t));
  }
  expect_round_trip(from_vector(std::vector<std::int64_t>{INT64_MIN, -1, INT64_MAX}, {3}));
  const double inf = std::numeric_limits<double>::infinity();
  expect_round_trip(tensor({inf, -inf, -0.0, 5e-324, 1.7976931348623157e308}, f64));
}

TEST(Npy, SavesViewsInTheirOwnOrder) {
  for (const DType t : {boolean, i64, f16, f32, f64}) {
    const Tensor x = view::try_reshape(kernels::cast(arange(24), t), {2, 3, 4});
    expect_round_trip(view::permute(x, {2, 0, 1}));
    expect_round_trip(view::slice(x, 2, 3, 2, -2));
    expect_round_trip(view::expand(view::slice(x, 0, 1, 1, 1), {5, 3, 4}));
  }
}

TEST(Npy, WritesTheBytesOfTheFormat) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  save_npy(path, tensor({1, -2}, f32));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, ), }";
  header.append(117 - header.size(), ' ').append("\n");
  EXPECT_EQ(read_file(path), npy(header, std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
}

TEST(Npy, ReadsEveryVersionOrderAndEndianness) {
  const std::string rows("\0\0\0\x80\1\0\2\0\3\0\4\0", 12);  // i2: 0 -32768 1 2 3 4
  const Tensor x = tensor({0, -32768, 1, 2, 3, 4}, {2, 3}, i64);
  for (const int version : {1, 2, 3})
    expect_same(load(npy(dictionary("<i2", "(2, 3)"), rows, version)), x);
  expect_same(load(npy(dictionary("=i2", "(2, 3)"), rows)), x);
  const std::string swapped("\0\0\x80\0\0\1\0\2\0\3\0\4", 12);
  expect_same(load(npy(dictionary(">i2", "(2, 3)"), swapped)), x);
  const std::string columns("\0\0\2\0\0\x80\3\0\1\0\4\0", 12);
  expect_same(load(npy(dictionary("<i2", "(2, 3)", "True"), columns)), x);
  EXPECT_TRUE(load(npy(dictionary("<i2", "(2, 3)", "True"), columns)).contiguous());
}

TEST(Npy, ReadsBigEndianWideElements) {
  expect_same(load(npy(dictionary(">f8", "(1,)"), std::string("\xbf\xf8\0\0\0\0\0\0", 8))),
              tensor({-1.5}, f64));
  expect_same(load(npy(dictionary(">f4", "()"), std::string("\x3f\xc0\0\0", 4))), scalar(1.5));
  expect_same(load(npy(dictionary(">i8", "(1,)"), std::string("\0\0\0\0\0\1\0\2", 8))),
              tensor({65538}, i64));
}

TEST(Npy, WidensSmallTypesExactly) {
  const std::string bytes("\x7f\x80\xff\0", 4);
  expect_same(load(npy(dictionary("|i1", "(4,)"), bytes)), tensor({127, -128, -1, 0}, i64));
  expect_same(load(npy(dictionary("|u1", "(4,)"), bytes)), tensor({127, 128, 255, 0}, i64));
  expect_same(load(npy(dictionary("<u2", "(2,)"), bytes)), tensor({32895, 255}, i64));
  expect_same(load(npy(dictionary("<u4", "(1,)"), bytes)), tensor({16744575}, i64));
  expect_same(load(npy(dictionary("<i4", "(1,)"), "\xfe\xff\xff\xff")), tensor({-2}, i64));
  expect_same(load(npy(dictionary("|b1", "(4,)"), bytes)), tensor({1, 1, 1, 0}, boolean));
  expect_same(load(npy(dictionary("<u8", "(1,)"), little_endian(INT64_MAX, 8))),
              from_vector(std::vector<std::int64_t>{INT64_MAX}, {1}));
  expect_error([] { load(npy(dictionary("<u8", "(1,)"), little_endian(1ull << 63, 8))); },
               "the unsigned value 9223372036854775808 does not fit in i64, whose largest value is "
               "9223372036854775807");
}

// Half-precision bits against the definition (−1)^s 2^(e−15) (1 + f/1024), and f/1024 · 2^−14 at
// e = 0: all 65,536 of them.
TEST(Npy, ReadsEveryHalf) {
  std::string bytes;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) bytes += little_endian(bits, 2);
  const Tensor x = load(npy(dictionary("<f2", "(65536,)"), bytes));
  EXPECT_EQ(x.dtype(), f16);
  const std::vector<float> wide = x.to_vector<float>();
  const float* values = wide.data();
  for (int bits = 0; bits < 65536; ++bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(values[bits])) << bits;
      continue;
    }
    const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                             : exponent == 0 ? std::ldexp(fraction, -24)
                                             : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(values[bits], static_cast<float>(sign * magnitude)) << bits;
    EXPECT_EQ(std::signbit(values[bits]), bits >> 15 == 1) << bits;
  }
}

TEST(Npy, TakesTheDictionaryAsPythonWritesIt) {
  const std::string four("\1\2\3\4", 4);
  for (const char* text : {"{'shape':(4,),'fortran_order':False,'descr':'|u1'}",
                           "{\"descr\": \"|u1\", \"fortran_order\": True, \"shape\": (4,), }  \n",
                           "{'descr': '|u1', 'fortran_order': False, 'shape': ( 4 , ) }\n"})
    expect_same(load(npy(text, four)), tensor({1, 2, 3, 4}, i64));
  EXPECT_EQ(load(npy(dictionary("|u1", "(2, 2,)"), four)).shape(), Shape({2, 2}));
}

TEST(Npy, RefusesOtherDictionaries) {
  const auto refuse = [](const std::string& text, const std::string& fragment) {
    expect_error([&] { load(npy(text, std::string(4, '\1'))); }, fragment);
  };
  refuse("", "the header needs '{'");
  refuse("{}", "the keys 'descr', 'fortran_order' and 'shape'");
  refuse("{'descr': '<f4', 'shape': (1,)}", "the keys 'descr', 'fortran_order' and 'shape'");
  refuse("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
         "the header's key 'descr' is unknown or repeated");
  refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "key 'x' is unknown");
  refuse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "a quoted string");
  refuse("{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "needs ");
  refuse("{'descr': '<f4", "the end of a quoted string");
  refuse("{'descr': '<\\x664', 'fortran_order': False, 'shape': (1,)}", "without escapes");
  refuse(dictionary("<f4", "(1,)", "0"), "True or False");
  refuse(dictionary("<f4", "(1,)") + "x", "nothing after the dictionary");
  refuse(dictionary("<f4", "(1)"), "',' after the only size of a tuple");
  refuse(dictionary("<f4", "[1]"), "'('");
  refuse(dictionary("<f4", "(1 2)"), "',' or ')'");
  refuse(dictionary("<f4", "(,)"), "an integer below 2^63");
  refuse(dictionary("<f4", "(1.5,)"), "',' or ')'");
  refuse(dictionary("<f4", "(9223372036854775808,)"), "an integer below 2^63");
  refuse(dictionary("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "has 9 axes; a tensor has at most 8");
  for (const char* descr : {"", "f4", "<f16", "<c8", "|S4", "<U1", "|O", "|f4", "<i3", "<m8[ns]"})
    refuse(dictionary(descr, "(1,)"), detail::join("the element type '", descr, "' is not one of"));
}

TEST(Npy, ComparesClaimedSizesWithTheFile) {
  const auto refuse = [](const std::string& shape, const std::string& fragment) {
    expect_error([&] { load(npy(dictionary("<f4", shape), std::string(8, '\0'))); }, fragment);
  };
  refuse("(3,)", "shape [3] with 4 bytes per element needs 12 bytes, but 8 follow the header");
  refuse("(1,)", "shape [1] with 4 bytes per element needs 4 bytes, but 8 follow the header");
  refuse("()", "needs 4 bytes, but 8 follow");
  refuse("(0,)", "needs 0 bytes, but 8 follow");
  refuse("(-2,)", "size -2 in shape [-2] is negative");
  refuse("(-1, -2)", "size -1 in shape [-1, -2] is negative");
  refuse("(1000000000000000,)", "needs 4000000000000000 bytes, but 8 follow");
  refuse("(4611686018427387904, 4)", "shape [4611686018427387904, 4] needs more than 2^63 bytes");
  refuse("(0, 4294967296, 4294967296)", "needs more than 2^63 bytes");
}

TEST(Npy, RefusesFilesThatAreNotArrays) {
  const TemporaryFolder folder;
  const std::string missing = folder / "missing.npy";
  expect_error([&] { load_npy(missing); }, missing + ": cannot open");
  expect_error([] { load(""); }, "8 bytes are to be read at byte 0, but only 0 are left");
  expect_error([] { load("PK\3\4 a zip archive"); }, "does not start with the six bytes");
  expect_error([] { load(npy("{}", "", 4)); }, "version 4.0 is not 1.0, 2.0 or 3.0");
  std::string bytes = npy(dictionary("<f4", "(1,)"), "1234");
  bytes[7] = 1;
  expect_error([&] { load(bytes); }, "version 1.1 is not");
  bytes = npy("{}", "", 2);
  bytes.replace(8, 4, "\xff\xff\xff\xff");
  expect_error([&] { load(bytes); }, "the header claims 4294967295 bytes, but only 2 are left");
  expect_error([] { load(npy(std::string(70000, ' '), "", 2)); },
               "the header claims 70000 bytes, more than the limit of 65535");
}

TEST(Npy, EveryTruncationIsAnError) {
  for (const int version : {1, 2})
    test::expect_truncations_fail(npy(dictionary("<f4", "(2, 1)"), "12345678", version),
                                  [](const std::string& path) { load_npy(path); });
}

TEST(Npy, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const Tensor x = load_npy(path);
    // No more than every byte of the file widened to eight.
    EXPECT_LE(x.storage().size(), 8 * read_file(path).size());
  };
  const std::string bytes = npy(dictionary("<i2", "(2, 3)", "True"), std::string(12, '\1'));
  const int refused = test::refused_mutations(bytes, 4000, 1, read);
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 4000);
}

TEST(Npy, UndefinedTensorsAndMissingFoldersAreErrors) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npy", deep = folder / "no/x.npy";
  expect_error([&] { save_npy(path, Tensor()); }, "the tensor is undefined");
  expect_error([&] { save_npy(path, ones({2}, bf16)); }, "NumPy has no bf16; save cast(x, f32)");
  EXPECT_FALSE(std::filesystem::exists(path));
  expect_error([&] { save_npy(deep, scalar(1)); }, deep + ": cannot write in its folder");
}

}  // namespace
}  // namespace ladon::npy_test
