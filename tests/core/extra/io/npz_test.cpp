#include "ladon/core/extra/io/npz.h"

#include "ladon/core/extra/io/npy.h"
#include "ladon/core/io/crc.h"
#include "ladon/core/io/file.h"
#include "ladon/core/view.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::npz_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::little_endian;
using test::TemporaryFolder;
using test::write;
using Tensors = std::map<std::string, Tensor>;

// A member of an archive in 32 bits, told twice: before its bytes and in the directory.
struct Member {
  std::string name, bytes;
  int method = 0, flags = 0;
  std::string own_name = "";         // if it is another one before the bytes
  int at = -1, disk = 0, size = -1;  // if the directory says so
  std::string extra = "";
};

std::string described(const Member& m, const std::string& name, bool follow = false) {
  const std::uint64_t size = m.size < 0 ? m.bytes.size() : static_cast<std::uint64_t>(m.size);
  return little_endian(static_cast<std::uint64_t>(m.flags), 2) +
         little_endian(static_cast<std::uint64_t>(m.method), 2) + little_endian(0, 4) +
         (follow ? std::string(12, '\0')
                 : little_endian(crc32(m.bytes), 4) + little_endian(m.bytes.size(), 4) +
                       little_endian(size, 4)) +
         little_endian(name.size(), 2) + little_endian(m.extra.size(), 2);
}

struct Archive {
  std::vector<Member> members;
  std::string comment = "", between = "";
  int claimed = -1;

  std::string bytes() const {
    std::string all, directory;
    for (const Member& m : members) {
      const std::string own = m.own_name.empty() ? m.name : m.own_name;
      const std::uint64_t at = m.at < 0 ? all.size() : static_cast<std::uint64_t>(m.at);
      directory += "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + described(m, m.name) +
                   little_endian(0, 2) + little_endian(static_cast<std::uint64_t>(m.disk), 2) +
                   little_endian(0, 6) + little_endian(at, 4) + m.name + m.extra;
      all += "PK\3\4" + little_endian(20, 2) + described(m, own, (m.flags & 8) != 0) + own +
             m.extra + m.bytes + between;
    }
    const std::string count =
        little_endian(claimed < 0 ? members.size() : static_cast<std::uint64_t>(claimed), 2);
    return all + directory + "PK\5\6" + little_endian(0, 4) + count + count +
           little_endian(directory.size(), 4) + little_endian(all.size(), 4) +
           little_endian(comment.size(), 2) + comment;
  }
};

Tensors load(const std::string& bytes) {
  const TemporaryFolder folder;
  return load_npz(write(folder, bytes));
}

std::string npy(const Tensor& x) {
  const TemporaryFolder folder;
  save_npy(folder / "x.npy", x);
  return read_file(folder / "x.npy");
}

std::string saved(const Tensors& tensors) {
  const TemporaryFolder folder;
  save_npz(folder / "x.npz", tensors);
  return read_file(folder / "x.npz");
}

Tensors samples() {
  const Tensor x = view::try_reshape(arange(0, 6, 1, f32), {2, 3});
  return {{"weight", x},
          {"turned", view::transpose(x, 0, 1)},
          {"half", tensor({1, -2.5}, f16)},
          {"double", scalar(0.1, f64)},
          {"flags", tensor({1, 0, 1}, boolean)},
          {"layers/0.größe", arange(3)},
          {"none", empty({3, 0})}};
}

// "The quick brown fox jumps over the lazy dog" is 414fa339, "123456789" cbf43926: the check values
// that go round with this polynomial.
TEST(Npz, ChecksumsAreThoseOfTheWorld) {
  EXPECT_EQ(crc32("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xcbf43926u);
  EXPECT_EQ(crc32(""), 0u);
}

TEST(Npz, RoundTripsArrays) {
  const std::string bytes = saved(samples());
  EXPECT_EQ(bytes, saved(samples())) << "no time, no chance";
  const Tensors read = load(bytes);
  ASSERT_EQ(read.size(), samples().size());
  for (const auto& [name, x] : samples()) expect_same(x, read.at(name));
  EXPECT_TRUE(load(saved({})).empty());
}

TEST(Npz, ReadsArchivesInThirtyTwoBits) {
  const Tensor a = tensor({1, 2}), b = tensor({3}, i64);
  for (const int flags : {0, 8, 1 << 11})
    for (const std::string& comment :
         {std::string(), std::string("PK\5\6 a comment"), std::string(65535, 'x')}) {
      Archive archive{{{"a.npy", npy(a), 0, flags}, {"b.npy", npy(b), 0, flags}}, comment};
      if (flags == 8) archive.between = "PK\7\10" + std::string(12, '\0');  // sizes that follow
      const Tensors read = load(archive.bytes());
      ASSERT_EQ(read.size(), 2u);
      expect_same(read.at("a"), a);
      expect_same(read.at("b"), b);
    }
}

TEST(Npz, ReadsFortranOrder) {
  std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }";
  header.append(117 - header.size(), ' ').append("\n");
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  std::string bytes = npy(view::transpose(x, 0, 1));
  bytes.replace(10, header.size(), header);
  expect_same(load(Archive{{{"x.npy", bytes}}}.bytes()).at("x"), x);
}

void refuse(const Archive& archive, const std::string& fragment) {
  expect_error([&] { load(archive.bytes()); }, fragment);
}

TEST(Npz, RefusesWhatIsNoArray) {
  const std::string x = npy(ones({2}));
  refuse({{{"x.npy", x}, {"notes.txt", "hello"}}}, "member 'notes.txt' is not an array: its name");
  refuse({{{"x.npy", "hello, world"}}}, "member 'x.npy': does not start with the six bytes");
  refuse({{{"x.npy", x + "12"}}},
         "member 'x.npy': shape [2] with 4 bytes per element needs 8 bytes, but 10 follow the "
         "header");
  refuse({{{"x.npy", x.substr(0, x.size() - 1)}}}, "needs 8 bytes, but 7 follow the header");
  refuse({{{"x.npy", x, 12}}}, "is compressed by method 12");
  for (const int flag : {1, 1 << 5, 1 << 6, 1 << 13})
    refuse({{{"x.npy", x, 0, flag}}}, "member 'x.npy' is encrypted or patched");
}

TEST(Npz, RefusesArchivesThatContradictThemselves) {
  const std::string x = npy(ones({2})), y = npy(zeros({2}));
  const int second = static_cast<int>(30 + 5 + x.size());
  refuse({{{"x.npy", x}, {"x.npy", y}}}, "has two members named 'x.npy'");
  refuse({{{"x.npy", x}, {"y.npy", y, 0, 0, "", 0}}}, "but the next part of the file begins at 0");
  refuse({{{"x.npy", x}, {"y.npy", y, 0, 0, "", second - 3}}},
         "but the next part of the file begins at");
  refuse({{{"x.npy", x}, {"y.npy", y, 0, 0, "", second + 3}}},
         "member 'y.npy' does not begin at byte");
  refuse({{{"x.npy", x, 0, 0, "z.npy"}}},
         "member 'x.npy' is described differently in the directory and in front of its bytes");
  refuse({{{"x.npy", x, 0, 0, "", 4, 0}}}, "member 'x.npy' does not begin at byte 4");
  refuse({{{"x.npy", x, 0, 0, "", -1, 1}}}, "member 'x.npy' is in another part of the archive");
  refuse({{{"x.npy", x, 0, 0, "", -1, 0, 7}}}, "is stored, but takes");
  refuse({{{"", x}}}, "the name of member 0 is empty, holds a NUL or is not UTF-8");
  refuse({{{std::string("a\0.npy", 6), x}}}, "the name of member 0");
  refuse({{{"\xff.npy", x}}}, "the name of member 0");
  refuse({{{"x.npy", x, 0, 0, "", -1, 0, -1, "abcdefg"}}}, "an extra field is truncated");
  const std::string extra = little_endian(9, 2) + little_endian(56, 2) + std::string(56, '\0');
  refuse({{{"x.npy", x, 0, 0, "", -1, 0, -1, extra}}, "", "", 2},
         "entry 1 of the directory is malformed");
  refuse({{{"x.npy", x}}, "", "", 0}, "bytes after its last entry");
  refuse({{{"x.npy", x}}, "", "", 9}, "the directory claims 9 members in 51 bytes");
}

TEST(Npz, RefusesWhatIsNoArchive) {
  const std::string x = npy(ones({2})), bytes = Archive{{{"x.npy", x}}}.bytes();
  expect_error([] { load(""); }, "has no end record of a zip archive");
  expect_error([&] { load(x); }, "has no end record of a zip archive");
  expect_error([&] { load(bytes + "x"); }, "has no end record of a zip archive");
  expect_error([&] { load("before" + bytes); }, "the directory ends at byte");
  std::string damaged = bytes;
  damaged[bytes.find("\x80\x3f")] = 0;
  expect_error([&] { load(damaged); }, "member 'x.npy' has the checksum");
}

TEST(Npz, TheTwoEndsAgree) {
  const std::string bytes = saved({{"x", ones({2})}});
  const std::size_t end = bytes.size() - 22, locator = end - 20, wide = locator - 56;
  ASSERT_EQ(bytes.substr(wide, 4), "PK\6\6");
  const auto with = [&](std::size_t at, std::uint64_t value, int n) {
    std::string edited = bytes;
    return edited.replace(at, static_cast<std::size_t>(n), little_endian(value, n));
  };
  for (const std::size_t at : {end + 8, end + 10})  // full fields refer to the wide ones
    expect_same(load(with(at, 0xffff, 2).replace(end + 8, 4, "\xff\xff\xff\xff")).at("x"),
                ones({2}));
  expect_same(load(with(end + 12, 0xffffffffffffffff, 8)).at("x"), ones({2}));
  expect_error([&] { load(with(end + 16, 1, 4)); }, "the two end records of the archive disagree");
  expect_error([&] { load(with(wide + 48, 1, 8)); }, "disagree");
  expect_error([&] { load(with(wide + 48, std::uint64_t{1} << 63, 8)); }, "the directory is said");
  expect_error([&] { load(with(wide + 40, ~std::uint64_t{0}, 8)); },
               "the directory is said to take");
  expect_error([&] { load(with(wide + 32, 2, 8)); }, "is one of several parts");
  expect_error([&] { load(with(locator + 8, ~std::uint64_t{0}, 8)); }, "the 64-bit end record");
  expect_error([&] { load(with(locator + 8, 0, 8)); }, "has no 64-bit end record at byte 0");
  expect_error([&] { load(with(wide + 4, 45, 8)); }, "the 64-bit end record claims 45 bytes");
}

TEST(Npz, EveryTruncationIsAnError) {
  test::expect_truncations_fail(saved({{"x", ones({2})}, {"y", arange(2)}}),
                                [](const std::string& path) { load_npz(path); });
}

TEST(Npz, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const auto size = read_file(path).size();
    for (const auto& [name, x] : load_npz(path)) EXPECT_LE(x.storage().size(), 8 * size);
  };
  EXPECT_GT(test::refused_mutations(saved(samples()), 2000, 3, read), 1000);
  EXPECT_GT(test::refused_mutations(Archive{{{"x.npy", npy(ones({2}))}}}.bytes(), 2000, 4, read),
            1000);
}

TEST(Npz, RefusesToWriteWhatItCouldNotRead) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  save_npz(path, {{"old", scalar(1)}});
  for (const std::string& name :
       {std::string(), std::string("\xff"), std::string("a\0", 2), std::string(60'001, 'x')})
    expect_error(
        [&] {
          save_npz(path, {{"a", scalar(1)}, {name, scalar(1)}});
        },
        "a name must be UTF-8 of 1 to");
  expect_error([&] { save_npz(path, {{"a", Tensor()}}); }, "'a': the tensor is undefined");
  expect_error([&] { save_npz(path, {{"a", ones({1}, bf16)}}); }, "NumPy has no bf16");
  EXPECT_EQ(load_npz(path).count("old"), 1u) << "the old file must survive";
}

}  // namespace
}  // namespace ladon::npz_test
