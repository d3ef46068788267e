#include "ladon/core/machine/allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/storage.h"

#ifndef LADON_SANITIZED  // sanitizers watch the C library's allocator
namespace ladon::allocator_test {
namespace {

constexpr std::size_t mb = std::size_t{1} << 20;

class Allocator : public testing::Test {
 protected:
  void SetUp() override {
    release_memory();
    before = memory_use();
  }
  MemoryUse before;
};

TEST_F(Allocator, KeepsABlockForTheNextOfItsClass) {
  const void* first;
  {
    const Storage a(10 * mb);
    first = a.bytes();
    EXPECT_GE(memory_use().in_use - before.in_use, 10 * mb);
    EXPECT_LE(memory_use().in_use - before.in_use, 12 * mb);
  }
  EXPECT_EQ(memory_use().in_use, before.in_use);
  EXPECT_GE(memory_use().kept, 10 * mb);
  const Storage b(10 * mb - 5000);
  EXPECT_EQ(b.bytes(), first);
  EXPECT_EQ(memory_use().kept, 0u);
}

TEST_F(Allocator, SmallBlocksDoNotCount) {
  const Storage a(mb / 2);
  EXPECT_EQ(memory_use().in_use, before.in_use);
}

TEST_F(Allocator, KeepsAtMostAQuarterMoreThanWasEverInUse) {
  std::size_t most = 0;
  for (std::size_t size = 2; size < 40; ++size) {  // no class fits the next size
    { const Storage a(size * mb); }
    most = std::max(most, memory_use().most);
    EXPECT_LE(memory_use().kept + memory_use().in_use, most + most / 4);
  }
  EXPECT_GE(most - before.in_use, 39 * mb);
}

TEST_F(Allocator, ReleaseGivesBackWhatItSays) {
  { const Storage a(16 * mb), b(3 * mb); }
  const std::size_t kept = memory_use().kept;
  EXPECT_GE(kept, 19 * mb);
  EXPECT_EQ(release_memory(), kept);
  EXPECT_EQ(memory_use().kept, 0u);
  EXPECT_EQ(memory_use().most, before.in_use);
  EXPECT_EQ(release_memory(), 0u);
}

TEST_F(Allocator, AlignsAndKeepsWhatIsWritten) {
  std::vector<Storage> held;
  for (std::size_t i = 0; i < 20; ++i) {
    held.emplace_back(mb + i * 100'003);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().bytes()) % 64, 0u);
    std::memset(held.back().bytes(), static_cast<int>(i), held.back().size());
    if (i % 3 == 2) held.erase(held.begin());
  }
  for (const Storage& s : held)
    EXPECT_EQ(s.bytes()[0], s.bytes()[s.size() - 1]) << "blocks overlap";
}

TEST_F(Allocator, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (std::size_t i = 0; i < 200; ++i) {
        const Storage a((1 + i % 7) * mb);
        std::memset(a.bytes(), t, 4096);
        std::memset(a.bytes() + a.size() - 4096, t, 4096);
        EXPECT_EQ(a.bytes()[4095], a.bytes()[a.size() - 1]);
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(memory_use().in_use, before.in_use);
}

TEST_F(Allocator, RefusesWhatNoMachineHas) {
  EXPECT_THROW(Storage(std::size_t{1} << 62), Error);
  EXPECT_EQ(memory_use().in_use, before.in_use);
}

}  // namespace
}  // namespace ladon::allocator_test
#endif
