// Round trips: tensors are loaded as they were saved, in the layout of the reference
// implementation.

#include "ladon/core/io/tensors/safetensors.h"

#include <fstream>
#include <iomanip>
#include <sstream>

#include "ladon/core/io/tensors/safetensors_header.h"
#include "ladon/tests/core/io/safetensors_files.h"

namespace ladon::safetensors_test {
namespace {

using test::as_saved;
using test::entry;
using test::expect_error;
using test::expect_same;
using test::load;
using test::Metadata;
using test::safetensors;
using test::samples;
using test::saved;
using test::TemporaryFolder;
using test::Tensors;

TEST(Safetensors, RoundTripsTensorsAndMetadata) {
  const Metadata metadata = {{"framework", "ladon"}, {"note", "ünïcode \"quoted\"\n"}};
  Metadata read = {{"stale", "entry"}};
  const Tensors tensors = load(saved(samples(), metadata), &read);
  EXPECT_EQ(read, as_saved(metadata));
  ASSERT_EQ(tensors.size(), samples().size());
  for (const auto& [name, x] : samples()) expect_same(x, tensors.at(name));

  EXPECT_TRUE(load(saved({}, {{"ladon.version", "0.0.1"}}), &read).empty());
  EXPECT_EQ(read, as_saved({})) << "an older writer's version stays";
}

// Empty tensors begin and end at one byte; their sums are told apart all the same.
TEST(Safetensors, RoundTripsManyEmptyTensors) {
  Tensors tensors;
  for (int i = 0; i < 40; ++i)
    tensors[detail::join("x", i)] = i % 3 == 0 ? ones({i + 1}) : empty({i, 0}, i % 2 ? f32 : f64);
  const Tensors read = load(saved(tensors));
  for (const auto& [name, x] : tensors) expect_same(x, read.at(name));
}

// The reference implementation puts the widest type first, so that every tensor is aligned.
TEST(Safetensors, WritesTheReferenceLayout) {
  const std::string text = saved({{"a", tensor({1}, boolean)},
                                  {"c", tensor({2}, f32)},
                                  {"b", tensor({3}, f32)},
                                  {"d", tensor({4}, i64)},
                                  {"e", tensor({5}, f64)},
                                  {"f", tensor({6}, f16)},
                                  {"g", tensor({7}, bf16)}},
                                 {{"k", "v"}});
  // By another implementation of CRC-32: of "k\0v\0", of "d I64 [1]" and the elements, …
  std::ostringstream notes;
  notes << std::hex << std::setfill('0') << std::setw(8)
        << 0xb406716eu + checksum_of_note("ladon.version", version());
  const auto written = [](const std::string& sum_of_notes, const std::string& writer) {
    std::string header =
        "{\"__metadata__\":{\"k\":\"v\",\"ladon.crc32\":\"" + sum_of_notes +
        " 35a8deed 3abe4e0c 95b0fe50 b85f68d0 58aec913 48c46a2f fff6f40c\"" + writer + "}," +
        entry("d", "I64", "[1]", "[0,8]") + "," + entry("e", "F64", "[1]", "[8,16]") + "," +
        entry("b", "F32", "[1]", "[16,20]") + "," + entry("c", "F32", "[1]", "[20,24]") + "," +
        entry("g", "BF16", "[1]", "[24,26]") + "," + entry("f", "F16", "[1]", "[26,28]") + "," +
        entry("a", "BOOL", "[1]", "[28,29]") + "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    return safetensors(header);
  };
  const std::string header =
      written(notes.str(), std::string(",\"ladon.version\":\"") + version() + "\"");
  EXPECT_EQ(text.substr(0, header.size()), header);
  EXPECT_EQ(text.size(), header.size() + 29);

  const Tensors old = load(written("b406716e", "") + text.substr(header.size()));  // by 0.1.0
  EXPECT_EQ(old.at("d").item(), 4);
}

TEST(Safetensors, KeepsHalvesAndWidensIntegers) {
  const Tensors x = load(safetensors(
      "{" + entry("f16", "F16", "[2]", "[0,4]") + "," + entry("bf16", "BF16", "[2]", "[4,8]") +
          "," + entry("u8", "U8", "[1]", "[8,9]") + "," + entry("i8", "I8", "[1]", "[9,10]") + "," +
          entry("i16", "I16", "[]", "[10,12]") + "," + entry("u32", "U32", "[1]", "[12,16]") + "," +
          entry("u64", "U64", "[1]", "[16,24]") + "," + entry("u16", "U16", "[1]", "[24,26]") + "}",
      std::string(
          "\0\x3c\1\0\x80\x3f\x40\xc0\xff\xff\xfe\xff\xff\xff\xff\xff\5\0\0\0\0\0\0\0\xff\xff",
          26)));
  expect_same(x.at("f16"), tensor({1, 0x1p-24}, f16));
  expect_same(x.at("bf16"), tensor({1, -3}, bf16));
  expect_same(x.at("u8"), tensor({255}, i64));
  expect_same(x.at("i8"), tensor({-1}, i64));
  expect_same(x.at("i16"), scalar(-2, i64));
  expect_same(x.at("u32"), tensor({4294967295.0}, i64));
  expect_same(x.at("u64"), tensor({5}, i64));
  expect_same(x.at("u16"), tensor({65535}, i64));
  expect_error(
      [] {
        load(safetensors("{" + entry("a", "U64", "[1]", "[0,8]") + "}", std::string(8, '\xff')));
      },
      "the unsigned value 18446744073709551615 does not fit in i64");
}

TEST(Safetensors, TakesWhiteSpaceAroundTheHeader) {
  const std::string header = "{" + entry("a", "F32", "[1]", "[0,4]") + "}", one("\0\0\x80\x3f", 4);
  for (const char* spaces : {" ", "\n", "\t\r\n  "}) {
    const std::string space = spaces;
    expect_same(load(safetensors(space + header, one)).at("a"), ones({1}));
    expect_same(load(safetensors(space + header + space, one)).at("a"), ones({1}));
  }
}

TEST(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  save_safetensors(path, {{"old", scalar(1)}});
  expect_error([&] { save_safetensors(path, {{"a", Tensor()}}); }, "tensor 'a' is undefined");
  expect_error(
      [&] {
        save_safetensors(path, {{"__metadata__", scalar(1)}});
      },
      "cannot be named __metadata__");
  expect_error([&] { save_safetensors(path, {{"\xff", scalar(1)}}); }, "is not UTF-8");
  expect_error([&] { save_safetensors(path, {}, {{"k", "\xff"}}); }, "is not UTF-8");
  EXPECT_EQ(load_safetensors(path).count("old"), 1u) << "the old file must survive";
}

/// A file that was saved, as it would be without checksums and version, which follow each other.
std::string without_checksums(const std::string& bytes) {
  std::string text = bytes.substr(8, bytes.rfind("}}") + 2 - 8);
  const std::string elements = bytes.substr(8 + (text.size() + 7) / 8 * 8);
  const std::size_t begin = text.find("\"ladon.crc32\":"), end = text.find('}', begin);
  const bool others = text[begin - 1] == ',', tensors = text[end + 1] == ',';
  if (others)
    text.erase(begin - 1, end - begin + 1);
  else
    text.erase(1, end + (tensors ? 1 : 0));
  text.append((8 - text.size() % 8) % 8, ' ');
  return safetensors(text, elements);
}

TEST(Safetensors, AgreesWithTheReferenceOfRealData) {
  const auto folder = test::shared_data() / "safetensors_cases";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference files at " << folder;
  std::ifstream expected(folder / "EXPECTED.tsv");
  int cases = 0;
  for (std::string line; std::getline(expected, line); ++cases) {
    std::istringstream fields(line);
    std::string name, size, verdict;
    fields >> name >> size >> verdict;
    const std::string path = folder / name;
    if (verdict == "ok:") {
      EXPECT_NO_THROW(load_safetensors(path)) << name;
    } else {
      EXPECT_THROW(load_safetensors(path), Error) << name;
    }
  }
  EXPECT_EQ(cases, 5);

  expect_same(load_safetensors(folder / "ok_deserialization.safetensors").at("test"),
              zeros({2, 2}, i64));
  Metadata metadata;
  EXPECT_TRUE(load_safetensors(folder / "ok_empty_metadata.safetensors", &metadata).empty());
  EXPECT_EQ(metadata, (Metadata{{"framework", "pt"}}));
  EXPECT_EQ(without_checksums(saved({}, metadata)),
            read_file(folder / "ok_empty_metadata.safetensors"));
  EXPECT_EQ(
      without_checksums(saved({{"attn.0", view::try_reshape(arange(0, 6, 1, f32), {1, 2, 3})}})),
      read_file(folder / "ok_serialization_f32_1x2x3.safetensors"));
}

}  // namespace
}  // namespace ladon::safetensors_test
