#include "ladon/core/data/passes.h"

#include <algorithm>

#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

std::vector<std::int64_t> one_pass(Passes& passes) {
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < passes.size(); ++i)
    for (const std::int64_t item : passes.next().to_vector<std::int64_t>()) seen.push_back(item);
  return seen;
}

TEST(Passes, ShowEveryItemOnceInAnOrderOfItsOwn) {
  Passes passes(10, 4, Generator(1));
  EXPECT_EQ(passes.size(), 3);
  const auto first = one_pass(passes);
  EXPECT_EQ(passes.pass(), 1);
  EXPECT_EQ(passes.position(), 0);
  const auto second = one_pass(passes);
  EXPECT_NE(first, second);
  for (auto seen : {first, second}) {
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  Generator of_second = Generator(1).split(1);
  EXPECT_EQ(second, permutation(10, of_second).to_vector<std::int64_t>());
  Passes exact(8, 4, Generator(1)), one(1, 5, Generator(1));
  EXPECT_EQ(exact.size(), 2);
  EXPECT_EQ(one.next().to_vector<std::int64_t>(), (std::vector<std::int64_t>{0}));
  EXPECT_EQ(one.pass(), 1);
}

TEST(Passes, GoOnAnywhere) {
  Passes whole(10, 4, Generator(1));
  for (int i = 0; i < 8; ++i) {
    Passes resumed(10, 4, Generator(7));
    resumed.load_state_dict(whole.state_dict());
    Passes again(10, 4, Generator(7));
    again.load_state_dict(whole.state_dict());
    for (int j = 0; j < 3; ++j)
      EXPECT_EQ(resumed.next().to_vector<std::int64_t>(), again.next().to_vector<std::int64_t>());
    Passes once(10, 4, Generator(7));
    once.load_state_dict(whole.state_dict());
    EXPECT_EQ(whole.next().to_vector<std::int64_t>(), once.next().to_vector<std::int64_t>()) << i;
  }
}

TEST(Passes, RefuseWhatDoesNotFitAndStayWhereTheyAre) {
  expect_error([] { Passes passes(0, 4, Generator(1)); }, "count and batch_size are 0 and 4");
  expect_error([] { Passes passes(4, 0, Generator(1)); }, "count and batch_size are 4 and 0");
  Passes passes(10, 4, Generator(1));
  passes.next();
  const auto refuse = [&](const std::string& message, const std::string& name, const Tensor& x) {
    StateDict state = passes.state_dict();
    state[name] = x;
    expect_error([&] { passes.load_state_dict(state); }, message);
    EXPECT_EQ(passes.position(), 1);
  };
  refuse("walks 9 items in batches of 4, this walk 10", "count", scalar(9, i64));
  refuse("\"position\" is 3; a pass has 3 batches", "position", scalar(3, i64));
  refuse("\"pass\" is -1", "pass", scalar(-1, i64));
  refuse("\"generator\" is i64 of shape []", "generator", scalar(1, i64));
  refuse("has 6 entries, of which this walk knows 5", "more", scalar(1, i64));
}

}  // namespace
}  // namespace ladon::test
