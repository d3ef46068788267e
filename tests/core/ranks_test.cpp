#include "ladon/core/ranks.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ladon/core/random.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon {
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
  expect_error([&] { ranks::broadcast(bytes, 1); }, "rank 1 is not among 1");
  Generator rng(1);
  const Tensor x = normal({5, 3}, rng);
  const std::vector<double> before = x.to_vector();
  ranks::all_reduce(x);
  ranks::gather_rows(x);
  EXPECT_EQ(x.to_vector(), before);
  EXPECT_EQ(ranks::share_of(7).first, 0);
  EXPECT_EQ(ranks::share_of(7).last, 7);
}

TEST(Ranks, WhatTheyTakeIsChecked) {
  expect_error([] { ranks::all_reduce(Tensor()); }, "undefined");
  expect_error([] { ranks::all_reduce(zeros({3}, i64)); }, "all_reduce");
  expect_error([] { ranks::all_reduce(view::expand(zeros({1, 2}), {3, 2})); }, "contiguous");
  expect_error([] { ranks::gather_rows(zeros({})); }, "no rows");
}

}  // namespace
}  // namespace ladon
