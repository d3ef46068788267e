#pragma once
// Damaged files for the tests of readers: bytes that are truncated or mutated. Given damaged bytes,
// a reader must either succeed or throw ladon::Error.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/tests/support.h"

namespace ladon::test {

/// Writes `bytes` to a new file in `folder` and returns its path. The file is not flushed to the
/// disk; an old file is removed instead of overwritten, since some file systems flush overwritten
/// files, and tests write thousands of files.
inline std::string write(const TemporaryFolder& folder, const std::string& bytes,
                         const std::string& name = "file") {
  const std::string path = folder / name;
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

/// `value` as `count` little-endian bytes.
inline std::string little_endian(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

inline void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_TRUE(a.defined() && b.defined());
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(a.dtype(), b.dtype());
  if (is_half(a.dtype())) {
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
    return;
  }
  visit_dtype(a.dtype(), [&]<class T>() { EXPECT_EQ(a.to_vector<T>(), b.to_vector<T>()); });
}

/// A copy of bytes that ends at the end of accessible memory: reading one byte more crashes the
/// program, also without a sanitizer.
class AtTheEdge {
 public:
  explicit AtTheEdge(std::string_view bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (bytes.size() + page - 1) / page * page;
    size_ = room + page;
    start_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* end = static_cast<char*>(start_) + room;
    if (start_ == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0)
      throw std::runtime_error("cannot map a page");
    view_ = {end - bytes.size(), bytes.size()};
    std::copy(bytes.begin(), bytes.end(), end - bytes.size());
  }
  ~AtTheEdge() { munmap(start_, size_); }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;
  std::string_view view() const { return view_; }

 private:
  void* start_;
  std::size_t size_;
  std::string_view view_;
};

/// Flips each bit of `bytes`, one at a time. `changed(path)` reads the file and returns whether the
/// result differs from that of the undamaged file. Returns the number of flips that changed the
/// result without an Error. Exceptions other than Error fail the test.
inline int silent_flips(const std::string& bytes,
                        const std::function<bool(const std::string&)>& changed) {
  const TemporaryFolder folder;
  int silent = 0;
  for (std::size_t i = 0; i < 8 * bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    try {
      silent += changed(write(folder, flipped));
    } catch (const Error&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << "bit " << i << ": not an Error: " << error.what();
    }
  }
  return silent;
}

/// Every proper prefix of `bytes` must be refused by `read(path)` with an Error.
inline void expect_truncations_fail(const std::string& bytes,
                                    const std::function<void(const std::string&)>& read) {
  const TemporaryFolder folder;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string path = write(folder, bytes.substr(0, length));
    EXPECT_THROW(read(path), Error) << "cut to " << length << " of " << bytes.size() << " bytes";
  }
}

/// `bytes` with one to four random edits. An edit replaces, inserts or removes a byte, flips a bit,
/// replaces a digit by 9, or repeats a piece.
inline std::string mutate(std::string bytes, Generator& rng) {
  for (std::int64_t edits = 1 + rng.below(4); edits > 0 && !bytes.empty(); --edits) {
    const auto at = static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(bytes.size())));
    switch (rng.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(rng.below(256)));
        break;
      case 2:
        bytes.erase(at, 1);
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        break;
      case 4:
        if (bytes[at] >= '0' && bytes[at] <= '9') bytes.insert(at, "99");
        break;
      default:
        bytes.insert(at, bytes.substr(at, static_cast<std::size_t>(1 + rng.below(12))));
    }
  }
  return bytes;
}

/// Reads `count` mutations of `bytes`; exceptions other than Error fail the test. Returns the
/// number of mutations for which `read` threw Error.
inline int refused_mutations(const std::string& bytes, int count, std::uint64_t seed,
                             const std::function<void(const std::string&)>& read) {
  const TemporaryFolder folder;
  Generator rng(seed);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    const std::string path = write(folder, mutate(bytes, rng));
    try {
      read(path);
    } catch (const Error&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "mutation " << i << ": not an Error: " << error.what();
    }
  }
  return refused;
}

}  // namespace ladon::test
