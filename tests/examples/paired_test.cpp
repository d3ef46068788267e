// Paired comparison of the arms (methods) of an experiment that answered the same questions.

#include "ladon/examples/common/paired.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"

namespace ladon::paired_test {
namespace {

using namespace example;

TEST(Paired, FoldsTestEveryExampleOnceAndTrainOnTheOthers) {
  Generator rng(1);
  const std::vector<Fold> all = folds(23, 5, rng);
  std::vector<std::int64_t> tested;
  for (const Fold& fold : all) {
    EXPECT_TRUE(fold.test.size() == 4 || fold.test.size() == 5);
    std::vector<std::int64_t> both = fold.train;
    both.insert(both.end(), fold.test.begin(), fold.test.end());
    std::sort(both.begin(), both.end());
    ASSERT_EQ(both.size(), 23U);
    for (std::size_t i = 0; i < 23; ++i) EXPECT_EQ(both[i], static_cast<std::int64_t>(i));
    tested.insert(tested.end(), fold.test.begin(), fold.test.end());
  }
  std::sort(tested.begin(), tested.end());
  for (std::size_t i = 0; i < 23; ++i) EXPECT_EQ(tested[i], static_cast<std::int64_t>(i));
  EXPECT_FALSE(std::is_sorted(tested.begin(), tested.end(), std::greater()));
  EXPECT_NE(all[0].test, (std::vector<std::int64_t>{0, 1, 2, 3}));  // in random order
  Generator again(1);
  EXPECT_EQ(folds(23, 5, again)[3].test, all[3].test);
  EXPECT_THROW(folds(3, 4, rng), Error);
  EXPECT_THROW(folds(3, 1, rng), Error);
}

TEST(Paired, AnInnerFoldLeavesTheTestSetAlone) {
  Generator rng(2);
  const Fold fold = folds(40, 4, rng)[1], inner = inner_fold(fold, 0.2, rng);
  EXPECT_EQ(inner.test.size(), 6U);
  EXPECT_EQ(inner.train.size(), 24U);
  for (const std::int64_t i : fold.test) {
    EXPECT_EQ(std::count(inner.train.begin(), inner.train.end(), i), 0);
    EXPECT_EQ(std::count(inner.test.begin(), inner.test.end(), i), 0);
  }
  EXPECT_THROW(inner_fold(fold, 0, rng), Error);
  EXPECT_THROW(inner_fold(fold, 1, rng), Error);
}

/// Folds of questions in order, two each.
std::vector<Fold> pairs(std::int64_t n) {
  std::vector<Fold> all;
  for (std::int64_t i = 0; i < n; i += 2) {
    Fold fold;
    fold.test = {i, i + 1};
    for (std::int64_t j = 0; j < n; ++j)
      if (j != i && j != i + 1) fold.train.push_back(j);
    all.push_back(fold);
  }
  return all;
}

TEST(Paired, ErrorsAreOfSeedsOfQuestionsAndOfFits) {
  // Differences of two seeds at four questions: 1 0 1 0 and 1 1 0 0.
  const Tensor base = zeros({2, 4}, f64);
  const Tensor arm = from_vector<double>({1, 0, 1, 0, 1, 1, 0, 0}, {2, 4});
  const Contrast c = contrast(arm, base, pairs(4));
  EXPECT_DOUBLE_EQ(c.difference, 0.5);
  EXPECT_DOUBLE_EQ(c.over_seeds, 0);  // both seeds: ½
  // Of questions: 1, ½, ½, 0: variance 1/6.
  EXPECT_NEAR(c.over_questions, std::sqrt(1.0 / 6 / 4), 1e-15);
  // Of the four fits: ½, ½, 1, 0: variance 1/6; n_test/n_train = 1.
  EXPECT_NEAR(c.corrected, std::sqrt((0.25 + 1) / 6), 1e-15);
  EXPECT_NEAR(c.p, std::erfc(0.5 / c.over_questions / std::sqrt(2.0)), 1e-15);
  EXPECT_NEAR(c.detectable, 2.8016 * c.over_questions, 1e-4);
  EXPECT_EQ(contrast(base, base, pairs(4)).p, 1);
  EXPECT_EQ(contrast(full({2, 4}, 1, f64), base, pairs(4)).p, 0);
}

TEST(Paired, RefusesScoresThatDoNotFit) {
  const Tensor four = zeros({2, 4}, f64);
  EXPECT_THROW(contrast(four, zeros({2, 3}, f64), pairs(4)), Error);
  EXPECT_THROW(contrast(four, four, pairs(6)), Error);  // question 4 of 4
  EXPECT_THROW(contrast(zeros({2, 6}, f64), zeros({2, 6}, f64), pairs(4)), Error);
  EXPECT_THROW(contrast(zeros({0, 4}, f64), zeros({0, 4}, f64), pairs(4)), Error);
}

TEST(Paired, TheErrorOverQuestionsIsTheSpreadOfTheDifference) {
  // Right or wrong by chance: over repetitions, difference/over_questions is a standard normal.
  Generator rng(3);
  double squares = 0;
  int below_5 = 0;
  constexpr int repetitions = 2000;
  for (int r = 0; r < repetitions; ++r) {
    const Tensor arm = bernoulli({2, 60}, rng, 0.7);
    const Tensor base = bernoulli({2, 60}, rng, 0.7);
    const Contrast c = contrast(arm, base, pairs(60));
    squares += std::pow(c.difference / c.over_questions, 2) / repetitions;
    below_5 += c.p < 0.05;
  }
  // χ² of 2,000 has sd √(2/2000) = .032; t of 59 degrees is wider by 2/57; a share's sd is .005.
  EXPECT_NEAR(squares, 1 + 2.0 / 57, 5 * 0.033);
  EXPECT_NEAR(below_5 / double{repetitions}, 0.055, 5 * 0.0051);
}

TEST(Paired, HolmStepsDown) {
  std::vector<Contrast> family(4);
  const double p[] = {0.01, 0.04, 0.03, 0.005}, corrected[] = {0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < 4; ++i) family[i].p = p[i];
  correct(family);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(family[i].holm, corrected[i], 1e-15);
}

}  // namespace
}  // namespace ladon::paired_test
