#include "ladon/core/extra/io/gzip.h"

#ifdef LADON_ZLIB
#include <zlib.h>
#endif

#include "ladon/core/extra/data/images.h"
#include "ladon/core/extra/io/idx.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::gzip_test {
namespace {

using test::expect_error;
using test::TemporaryFolder;
using test::write;

#ifdef LADON_ZLIB

/// By default a gzip file; a bare stream for −15.
std::string compress(const std::string& content, int window_bits = 15 + 16) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Content that hardly compresses, longer than the reader's buffers.
std::string noise(std::int64_t length) {
  Generator rng(1);
  std::string content;
  for (std::int64_t i = 0; i < length; ++i) content += static_cast<char>(rng.below(256));
  return content;
}

TEST(Gzip, ReadsCompressedAndPlainFiles) {
  const TemporaryFolder folder;
  const std::string large = noise(700'000) + std::string(2'000'000, 'x');
  for (const std::string& content : {std::string(), std::string("abc"), large}) {
    EXPECT_TRUE(read_maybe_gzip(write(folder, compress(content))) == content);
    EXPECT_TRUE(read_maybe_gzip(write(folder, content)) == content);
    EXPECT_TRUE(read_maybe_gzip(write(folder, compress("head") + compress(content))) ==
                "head" + content);
  }
  EXPECT_EQ(read_maybe_gzip(write(folder, "\x1f")), "\x1f");
}

TEST(Gzip, ReadsManySmallMembers) {
  std::string file, content;
  for (int i = 0; i < 3000; ++i) {
    const std::string part(static_cast<std::size_t>(i % 3), static_cast<char>('a' + i % 26));
    file += compress(part);
    content += part;
  }
  const TemporaryFolder folder;
  EXPECT_EQ(read_maybe_gzip(write(folder, file)), content);
}

TEST(Gzip, InflatesBareStreams) {
  for (const std::string& content : {std::string(), std::string("abc"), noise(700'000)})
    EXPECT_TRUE(detail::inflate("test", "x", compress(content, -15), content.size()) == content);
  const std::string content(5000, 'x'), packed = compress(content, -15);
  const auto refuse = [](const std::string& bytes, std::uint64_t size, const std::string& why) {
    expect_error([&] { detail::inflate("test", "the file", bytes, size); }, "[test] the file: ");
    expect_error([&] { detail::inflate("test", "the file", bytes, size); }, why);
  };
  refuse(packed, 4999, "the limit of 4999");
  refuse(packed, 5001, "holds 5000 bytes, where 5001 are stated");
  refuse(packed + "1", 5000, "1 bytes follow it");
  refuse(packed.substr(0, packed.size() - 1), 5000, "truncated");
  refuse("\xff" + packed, 5000, "corrupt");
  refuse(packed, 1032 * (packed.size() + 1), "claim to hold");
  refuse(std::string(2'000'000, 'x'), (std::uint64_t{1} << 30) + 1, "claim to hold");
}

TEST(Gzip, ReadersTakeCompressedFiles) {
  EXPECT_TRUE(detail::has_gzip());
  const TemporaryFolder folder;
  const auto compressed = [&](const std::string& bytes, const char* name) {
    return write(folder, compress(bytes), name);
  };
  const std::string labels = compressed({"\0\0\x08\1\0\0\0\2\3\7", 10}, "labels");
  test::expect_same(read_idx(labels), tensor({3, 7}, i64));
  const std::string images = compressed({"\0\0\x08\3\0\0\0\2\0\0\0\1\0\0\0\1\0\xff", 18}, "images");
  test::expect_same(read_mnist(images, labels).images, tensor({0, 1}, {2, 1, 1, 1}));
  const std::string cifar = compressed("\3" + std::string(3072, '\xff'), "cifar");
  EXPECT_EQ(read_cifar10(cifar).labels.item(), 3);
  EXPECT_EQ(read_lines({compressed("a b\r\nc\n", "lines")}).texts,
            (std::vector<std::string>{"a b", "c"}));
  EXPECT_EQ(read_glove(compressed("the 1 2\n", "glove")).words.size(), 1u);
}

TEST(Gzip, RefusesTruncatedAndCorruptStreams) {
  const TemporaryFolder folder;
  const std::string bytes = compress("some content, and some content again");
  for (std::size_t length = 2; length < bytes.size(); ++length) {
    const std::string path = write(folder, bytes.substr(0, length));
    expect_error([&] { read_maybe_gzip(path); }, path + ": the gzip stream is truncated after");
  }
  std::string wrong_sum = bytes;
  wrong_sum[wrong_sum.size() - 8] ^= 1;
  for (const std::string& damaged :
       {wrong_sum, bytes + "trailing", "\x1f\x8b" + std::string(30, 'x')}) {
    const std::string path = write(folder, damaged);
    expect_error([&] { read_maybe_gzip(path); }, path + ": the gzip stream is corrupt after");
  }
  const auto read = [](const std::string& path) { read_maybe_gzip(path, 1 << 20, 1 << 20); };
  EXPECT_GT(test::refused_mutations(compress(noise(300)), 1000, 3, read), 900);
}

TEST(Gzip, StopsADecompressionBomb) {
  const TemporaryFolder folder;
  const std::string path = write(folder, compress(std::string(50'000'000, '\0')));
  ASSERT_LT(std::filesystem::file_size(path), 100'000u);
  expect_error([&] { read_maybe_gzip(path, 1 << 20, 1 << 20); },
               path + ": decompresses to more than the limit of 1048576 bytes");
  EXPECT_EQ(read_maybe_gzip(path, 1 << 20, 50'000'000).size(), 50'000'000u);
  expect_error([&] { read_maybe_gzip(path, 100); }, path);
}

TEST(Gzip, ReadsDigitsOfRealData) {
  const auto folder = test::shared_data() / "mnist_t10k";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no real data at " << folder;
  const std::string images = folder / "t10k-images-idx3-ubyte.gz";
  const std::string labels = folder / "t10k-labels-idx1-ubyte.gz";
  const ImageDataset data = read_mnist(images, labels);
  EXPECT_EQ(data.images.shape(), Shape({10000, 28, 28, 1}));
  EXPECT_EQ(data.label_names.size(), 10u);
  const auto label = data.labels.to_vector<std::int64_t>();
  EXPECT_EQ(std::vector<std::int64_t>(label.begin(), label.begin() + 5),
            (std::vector<std::int64_t>{7, 2, 1, 0, 4}));
}

#else

TEST(Gzip, IsRefusedWithoutZlib) {
  EXPECT_FALSE(detail::has_gzip());
  const TemporaryFolder folder;
  const std::string path = write(folder, "\x1f\x8b\x08");
  expect_error([&] { read_maybe_gzip(path); },
               path + ": is compressed by gzip; decompress it first");
  EXPECT_EQ(read_maybe_gzip(write(folder, "plain")), "plain");
}

#endif

}  // namespace
}  // namespace ladon::gzip_test
