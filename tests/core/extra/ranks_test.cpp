#include "ladon/core/extra/ranks/ranks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ladon/core/random.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::ranks_test {
namespace {

using test::expect_error;

// Of many: tests/ranks.
TEST(Ranks, OneAlone) {
  const ranks::Session session;
  expect_error([] { const ranks::Session second; }, "a session is already there");
  EXPECT_EQ(ranks::rank(), 0);
  EXPECT_EQ(ranks::count(), 1);
  ranks::barrier();
  std::byte bytes[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  const auto all = ranks::all_gather(bytes);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(std::memcmp(all[0].data(), bytes, 3), 0);
  ranks::broadcast(bytes, 0);
  expect_error([&] { ranks::broadcast(bytes, 1); }, "rank 1, does not exist");
  Generator rng(1);
  const Tensor x = normal({5, 3}, rng);
  const std::vector<double> before = x.to_vector();
  ranks::all_reduce(x);
  ranks::gather_rows(x);
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_EQ(ranks::share_of(7).first, 0);
  EXPECT_EQ(ranks::share_of(7).last, 7);
  ranks::broadcast(x, 0);
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_EQ(ranks::neighbours(), 1);
  const ranks::Alone outer, inner;
  EXPECT_EQ(ranks::count(), 1);
}

TEST(Ranks, OneDoesAllTasks) {
  EXPECT_EQ(ranks::from_first([] { return "said"; }), "said");
  const auto results = ranks::each_task(3, [](std::int64_t i) {
    return std::vector<std::byte>(static_cast<std::size_t>(i), std::byte(i));
  });
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[2], std::vector<std::byte>(2, std::byte(2)));
  EXPECT_TRUE(ranks::each_task(0, [](std::int64_t) { return std::vector<std::byte>(); }).empty());
  expect_error([] { ranks::each_task(-1, [](std::int64_t) { return std::vector<std::byte>(); }); },
               "must not be negative");
}

TEST(Ranks, WhatTheyTakeIsChecked) {
  expect_error([] { ranks::all_reduce(Tensor()); }, "undefined");
  expect_error([] { ranks::all_reduce(zeros({3}, i64)); }, "all_reduce");
  expect_error([] { ranks::all_reduce(view::expand(zeros({1, 2}), {3, 2})); }, "contiguous");
  expect_error([] { ranks::gather_rows(zeros({})); }, "no rows");
}

}  // namespace
}  // namespace ladon::ranks_test
