// Damaged and forged safetensors files: they are read, or refused with an Error, in memory
// proportional to the file.

#include <cstring>
#include <functional>

#include "ladon/core/extra/io/npy.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/tests/core/heap.h"
#include "ladon/tests/core/io/safetensors_files.h"

namespace ladon::safetensors_damaged_test {
namespace {

using layout::same_bits;
using test::entry;
using test::expect_error;
using test::little_endian;
using test::load;
using test::Metadata;
using test::safetensors;
using test::samples;
using test::saved;
using test::TemporaryFolder;
using test::Tensors;
using test::write;

TEST(Safetensors, AnyByteThatIsDamagedIsFound) {
  const Tensors tensors = samples();
  const Metadata metadata = {{"framework", "ladon"}, {"note", "x"}};
  Metadata read;
  const auto changed = [&](const Tensors& loaded) {
    bool same = loaded.size() == tensors.size();
    for (const auto& [name, x] : tensors)
      same = same && loaded.contains(name) && same_bits(loaded.at(name), kernels::contiguous(x));
    for (const auto& [name, note] : metadata)
      same = same && read.contains(name) && read.at(name) == note;
    return !same;
  };
  const std::string bytes = saved(tensors, metadata);
  EXPECT_FALSE(changed(load(bytes, &read)));
  EXPECT_EQ(
      test::silent_flips(
          bytes, [&](const std::string& path) { return changed(load_safetensors(path, &read)); }),
      0);
}

TEST(Safetensors, ChecksumsThatAreNotOfTheFileAreAnError) {
  const std::string bytes = saved({{"x", tensor({1.5}, f32)}});
  const auto with = [&](const std::string& part, const std::string& other, std::string text = {}) {
    if (text.empty()) text = bytes;
    return text.replace(text.find(part), part.size(), other);
  };
  const std::string hint =
      "; the file is damaged, or a program changed it and must remove the entry 'ladon.crc32' "
      "of its metadata too";
  expect_error([&] { load(with("\"x\"", "\"y\"")); },
               "tensor 'y' has another checksum than the file states" + hint);
  expect_error([&] { load(with(std::string("\0\0\xc0\x3f", 4), std::string(4, '\0'))); },
               "tensor 'x' has another checksum than the file states" + hint);
  const std::string entry = "\"ladon.crc32\":\"",
                    digit = bytes.substr(bytes.find(entry) + entry.size(), 1);
  expect_error([&] { load(with(entry + digit, entry + (digit == "1" ? "2" : "1"))); },
               "__metadata__ has another checksum than the file states" + hint);
  expect_error([&] { load(with(entry + digit, " " + entry)); },
               "'ladon.crc32' must be 2 numbers of 8 hexadecimal digits");
  const auto length =
      static_cast<std::size_t>(bytes[0] & 255) + (static_cast<std::size_t>(bytes[1] & 255) << 8);
  for (std::size_t at = bytes.rfind('}', 8 + length) + 1; at < 8 + length; ++at)
    for (int bit = 0; bit < 8; ++bit) {  // of the padding
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_THROW(load(flipped), Error) << at << ' ' << bit;
    }
  const std::size_t blank = bytes.find(' ', bytes.find("\"ladon.crc32\":\""));
  for (int bit = 0; bit < 8; ++bit) {  // between two sums
    std::string flipped = bytes;
    flipped[blank] = static_cast<char>(flipped[blank] ^ (1 << bit));
    EXPECT_THROW(load(flipped), Error) << bit;
  }
  expect_error(
      [&] { load(with("ladon.crc32", "other.crc32")); },
      "metadata 'ladon.version' says that ladon wrote the file, but 'ladon.crc32' is missing");
  // A note of that name alone is another program's, as of a model card.
  EXPECT_NO_THROW(
      load(with("ladon.crc32", "other.crc32", with("\"ladon.version\"", "\"ladon\"        "))));
  expect_error(
      [] {
        saved({}, {{"ladon.crc32", ""}});
      },
      "the metadata key 'ladon.crc32' is reserved for the checksums");
}

// Notes may come in another order, as of a program that reads and writes them.
TEST(Safetensors, ChecksumsDoNotDependOnTheOrderOfNotes) {
  std::string bytes = saved({{"x", ones({1})}}, {{"a", "1"}, {"b", "2"}});
  const std::string notes = "\"a\":\"1\",\"b\":\"2\"", other = "\"b\":\"2\",\"a\":\"1\"";
  bytes.replace(bytes.find(notes), notes.size(), other);
  Metadata metadata;
  EXPECT_EQ(load(bytes, &metadata).size(), 1u);
  EXPECT_EQ(metadata, test::as_saved({{"a", "1"}, {"b", "2"}}));
}

TEST(Safetensors, RefusesLengthsThatDoNotFit) {
  expect_error([] { load(""); }, "is 0 bytes long, but the length of the header alone takes 8");
  expect_error([] { load("1234567"); }, "is 7 bytes long");
  expect_error([] { load(little_endian(3, 8) + "{}"); },
               "the header claims 3 bytes, but only 2 are left");
  expect_error([] { load(std::string(8, '\xff') + "{}"); },
               "the header claims 18446744073709551615 bytes, but only 2 are left; the file is "
               "truncated, damaged, or of another format");
  expect_error([] { load(safetensors("{}", "12")); }, "need 0 bytes, but 2 follow the header");

  // A sparse file, so that the header's claim is true but above the limit.
  const TemporaryFolder folder;
  const std::string path = write(folder, little_endian(100'000'001, 8));
  std::filesystem::resize_file(path, 8 + 100'000'001);
  expect_error([&] { load_safetensors(path); }, "claims 100000001 bytes, more than the limit of");
}

TEST(Safetensors, SaysWhatAForeignFileIs) {
  const TemporaryFolder folder;
  const std::string npy = folder / "a.npy", npz = folder / "a.npz";
  save_npy(npy, ones({2}));
  save_npz(npz, {{"a", ones({2})}});
  expect_error([&] { load_safetensors(npy); }, npy + ": is a .npy file; read it with load_npy()");
  expect_error([&] { load_safetensors(npz); }, npz + ": is a .npz file; read it with load_npz()");
}

TEST(Safetensors, RefusesHeadersThatAreNotTheFormat) {
  const auto refuse = [](const std::string& header, const std::string& fragment) {
    expect_error([&] { load(safetensors(header, "12345678")); }, fragment);
  };
  refuse("", "must start with '{'");
  refuse(" \v{}", "must start with '{', but starts with '\v{}'");
  refuse(" \n\t\r", "must start with '{', but starts with ''");
  refuse("[]", "must start with '{'");
  refuse("{", "is not JSON");
  refuse("{}x", "is not JSON");
  refuse("{\"\xff\":1}", "is not JSON");
  refuse("{" + entry("a", "F32", "[2]", "[0,8]") + "," + entry("a", "F32", "[2]", "[0,8]") + "}",
         "the key 'a' twice");
  refuse("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,8]}}",
         "the key 'dtype' twice");
  refuse("{\"__metadata__\":{\"k\":\"v\",\"k\":\"w\"}}", "the key 'k' twice");
  refuse("{\"__metadata__\":{\"k\":1}}",
         "__metadata__ must be an object of strings, got {\"k\":1}");
  refuse("{\"__metadata__\":[]}", "__metadata__ must be an object of strings, got []");
  refuse("{\"__metadata__\":{\"k\":[\"v\"]}}", "an object of strings, got {\"k\":[\"v\"]}");
  refuse("{\"__metadata__\":[\"v\"]}", "an object of strings, got [\"v\"]");
  refuse("{\"__metadata__\":\"v\"}", "an object of strings, got \"v\"");
  refuse("{\"a\":{\"x\":{\"k\":1,\"k\":2}}}", "the key 'k' twice");
  refuse("{\"a\":{\"x\":{\"dtype\":1}}}", "tensor 'a' has no 'dtype': {\"x\":{\"dtype\":1}}");
  refuse("{\"a\":[1,{\"k\":null}]}", "tensor 'a' must be an object, got [1,{\"k\":null}]");
  refuse("{\"a\":{\"dtype\":[\"F32\"],\"shape\":[2],\"data_offsets\":[0,8]}}",
         "dtype [\"F32\"] is not one of");
  refuse("{" + entry("a", "F32", "[[2]]", "[0,8]") + "}", "2^63 − 1, got [[2]]");
  refuse("{" + entry("a", "F32", "{\"k\":2}", "[0,8]") + "}", "2^63 − 1, got {\"k\":2}");
  refuse("{" + entry("a", "F32", "[2]", "[0,8,8]") + "}", "with begin ≤ end, got [0,8,8]");
  refuse("{" + entry("a", "F32", "[2]", "\"[0,8]\"") + "}", "2^63 − 1, got \"[0,8]\"");
  refuse("{\"a\":1}", "tensor 'a' must be an object, got 1");
  refuse("{\"a\":{}}", "tensor 'a' has no 'dtype'");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", "tensor 'a' has no 'data_offsets'");
  refuse("{" + entry("a", "F8_E4M3", "[8]", "[0,8]") + "}", "dtype \"F8_E4M3\" is not one of");
  refuse("{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,8]}}", "dtype 7 is not one of");
  refuse("{" + entry("a", "F32", "2", "[0,8]") + "}", "shape must be an array of integers");
  refuse("{" + entry("a", "F32", "[-2]", "[0,8]") + "}", "2^63 − 1, got [-2]");
  refuse("{" + entry("a", "F32", "[2.0]", "[0,8]") + "}", "2^63 − 1, got [2.0]");
  refuse("{" + entry("a", "F32", "[18446744073709551616]", "[0,8]") + "}", "2^63 − 1, got [1.8");
  refuse("{" + entry("a", "F32", "[9223372036854775808]", "[0,8]") + "}",
         "got [9223372036854775808]");
  refuse("{" + entry("a", "F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]") + "}",
         "9 axes; a tensor has at most 8");
  refuse("{" + entry("a", "F32", "[2]", "[0]") + "}",
         "must be [begin, end] with begin ≤ end, got [0]");
  refuse("{" + entry("a", "F32", "[2]", "[8,0]") + "}", "with begin ≤ end, got [8,0]");
  refuse("{" + entry("a", "F32", "[3]", "[0,8]") + "}",
         "shape [3] of \"F32\" needs 12 bytes, but data_offsets [0,8] span 8");
  refuse("{" + entry("a", "F32", "[4611686018427387904,4]", "[0,8]") + "}", "more than 2^63 bytes");
  refuse("{" + entry("a", "F32", "[1000000000000]", "[0,4000000000000]") + "}",
         "the tensors need 4000000000000 bytes, but 8 follow the header");
}

TEST(Safetensors, RefusesDeepNestingWithoutRecursion) {
  const int depth = 200'000;
  const std::string open(depth, '['), close(depth, ']');
  expect_error([&] { load(safetensors("{\"a\":" + open + close + "}")); }, "nests deeper than 4");
  std::string objects = "{";
  for (int i = 0; i < depth; ++i) objects += "\"a\":{";
  expect_error([&] { load(safetensors(objects)); }, "nests deeper than 4");
}

// The bytes of the heap that reading takes for a byte of the file. A file that is refused counts.
double heap_for_a_byte(const std::string& bytes) {
  const TemporaryFolder folder;
  const std::string path = write(folder, bytes);
  const std::size_t peak = test::heap_peak([&] {
    try {
      load_safetensors(path);
    } catch (const Error&) {
    }
  });
  return static_cast<double>(peak) / static_cast<double>(bytes.size());
}

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += (i > 0 ? "," : "") + part(i);
  return all;
}

// A tensor takes 52 bytes of a header at least, and some 400 as a result.
TEST(Safetensors, ManyTensorsTakeMemoryInProportion) {
  const std::size_t count = 100'000;
  const std::string header =
      "{" +
      repeated(count,
               [](std::size_t i) {
                 const std::string offsets = detail::join("[", 4 * i, ",", 4 * i + 4, "]");
                 return entry("l." + std::to_string(i), "F32", "[1]", offsets);
               }) +
      "}";
  std::string elements(4 * count, '\0');
  const float value = 1.5;
  std::memcpy(elements.data() + 4 * 12'345, &value, sizeof value);
  const std::string bytes = safetensors(header, elements);
  const Tensors tensors = load(bytes);
  ASSERT_EQ(tensors.size(), count);
  EXPECT_EQ(tensors.at("l.12345").item(), 1.5);
  EXPECT_EQ(tensors.at("l.12344").item(), 0);
  EXPECT_LT(heap_for_a_byte(bytes), 10);
  EXPECT_EQ(load(saved(tensors)).size(), count);
}

// None of these may take much more than their own length, whatever stands in them.
TEST(Safetensors, HostileHeadersTakeMemoryInProportion) {
  const std::size_t million = 1'000'000;
  const std::string zeros = repeated(million, [](std::size_t) { return "0"; });
  const auto word = [](std::size_t i) { return "\"" + std::to_string(i) + "\":\"\""; };
  const std::string words = repeated(million / 4, word), a_long_word(4 * million, 'x');
  const std::string empty_tensor = "\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]";
  for (const std::string& header :
       {"{\"__metadata__\":{" + words + "}}", "{\"__metadata__\":{\"k\":\"" + a_long_word + "\"}}",
        "{\"__metadata__\":[" + zeros + "]}",
        "{" + entry("a", "F32", "[" + zeros + "]", "[0,0]") + "}",
        "{" + entry("a", "F32", "[0]", "[" + zeros + "]") + "}",
        "{\"a\":{" + empty_tensor + ",\"other\":[" + zeros + "]}}",
        "{\"a\":{" + empty_tensor + "," + words + "}}", "{\"" + a_long_word + "\":1}",
        "{\"" + a_long_word, "{\"a\":" + std::string(4 * million, '1') + "}"})
    EXPECT_LT(heap_for_a_byte(safetensors(header)), 12) << header.substr(0, 70);
}

TEST(Safetensors, ReadsSizesNoFurtherThanTheRankLimit) {
  const std::string zeros = repeated(1'000'000, [](std::size_t) { return "0"; });
  const std::string bytes = safetensors("{" + entry("a", "F32", "[" + zeros + "]", "[0,0]") + "}");
  expect_error([&] { load(bytes); }, "tensor 'a' has at least 9 axes; a tensor has at most 8");
  EXPECT_LT(heap_for_a_byte(bytes), 1.1) << "only the text itself";
}

TEST(Safetensors, RefusesOverlapsAndHoles) {
  const auto pair = [](const std::string& first, const std::string& second) {
    return safetensors(
        "{" + entry("a", "F32", "[1]", first) + "," + entry("b", "F32", "[1]", second) + "}",
        "12345678");
  };
  EXPECT_EQ(load(pair("[4,8]", "[0,4]")).size(), 2u) << "the header's order is free";
  expect_error(
      [&] { load(pair("[0,4]", "[0,4]")); },
      "begins at byte 0 of the elements, but the tensors before it end at 4; they overlap");
  expect_error([&] { load(pair("[0,4]", "[2,6]")); }, "tensor 'b' begins at byte 2");
  expect_error([&] { load(pair("[0,4]", "[6,10]")); },
               "begins at byte 6 of the elements, but the tensors before it end at 4; the bytes "
               "between belong to no tensor");
  expect_error([&] { load(pair("[2,6]", "[6,10]")); }, "tensor 'a' begins at byte 2");
  expect_error([] { load(safetensors("{" + entry("a", "F32", "[1]", "[0,4]") + "}", "12345")); },
               "the tensors need 4 bytes, but 5 follow the header");
}

TEST(Safetensors, EveryTruncationIsAnError) {
  test::expect_truncations_fail(saved(samples(), {{"k", "v"}}),
                                [](const std::string& path) { load_safetensors(path); });
}

TEST(Safetensors, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const auto size = read_file(path).size();
    for (const auto& [name, x] : load_safetensors(path)) EXPECT_LE(x.storage().size(), 8 * size);
  };
  const std::string bytes = saved(samples(), {{"k", "v"}});
  const int refused = test::refused_mutations(bytes, 4000, 2, read);
  EXPECT_GT(refused, 2000);
  EXPECT_LT(refused, 4000);
}

}  // namespace
}  // namespace ladon::safetensors_damaged_test
