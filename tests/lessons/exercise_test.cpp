// Messages of the checks of exercises about wrong results that are not among the typical mistakes.

#include "exercise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace ladon::test {
namespace {

std::string said(const Tensor& yours, const Tensor& right) {
  try {
    lessons::compare("it", yours, right, {{right * 2, "twice as large"}});
    return "";
  } catch (const lessons::Wrong& wrong) {
    return wrong.what();
  }
}

TEST(LessonExercise, ComparisonsNameTheMistakeOrThePlace) {
  const Tensor right = tensor({1, 2, 3, 4, 5, 6}, {2, 3}, f64);
  EXPECT_EQ(said(right, right), "");
  EXPECT_EQ(said(cast(right, f32), right), "");
  EXPECT_EQ(said(2 * right, right), "twice as large");
  EXPECT_EQ(said(tensor({1, 2, 3, 4, 9, 6}, {2, 3}, f64), right),
            "it differs from the right one, most at [1, 1]: 9 instead of 5, off by 4");
  EXPECT_EQ(said(transpose(right), right), "it has shape [3, 2], and should have [2, 3]");
  EXPECT_EQ(said(right / 0.0, right), "it holds numbers that are not finite");
  EXPECT_EQ(said(right * std::nan(""), right), "it holds numbers that are not finite");
  EXPECT_EQ(said({}, right), "it is an undefined tensor: nothing was returned");
  EXPECT_EQ(said(scalar(2, f64), scalar(1, f64)), "twice as large");
  EXPECT_EQ(said(scalar(3, f64), scalar(1, f64)), "it is 3, and should be 1");
  EXPECT_EQ(said(zeros({0, 2}, f64), zeros({0, 2}, f64)), "");
}

TEST(LessonExercise, ComparisonsOfNumbersRefuseNan) {
  EXPECT_NO_THROW(lessons::compare("it", 1.0, 1.0 + 1e-12));
  EXPECT_THROW(lessons::compare("it", std::nan(""), 1.0), lessons::Wrong);
  EXPECT_THROW(lessons::compare("it", 1.1, 1.0), lessons::Wrong);
  EXPECT_THROW(lessons::compare("it", HUGE_VAL, 1.0, {{2.0, "twice"}}), lessons::Wrong);
}

TEST(LessonExercise, AVerdictIsTheOutcomeAndTheStatus) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(lessons::verdict([] {}), 0);
  EXPECT_EQ(lessons::verdict([] { throw lessons::Wrong("too large"); }), 1);
  EXPECT_EQ(lessons::verdict([] { matmul(zeros({2, 3}), zeros({2, 3})); }), 1);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find("passed\ntoo large\nit ended with an error: [matmul] "), 0u) << text;
}

double first_of(const Tensor& x, const std::vector<double>& numbers, const std::function<void()>&) {
  EXPECT_TRUE(x.defined());
  return numbers.at(0);
}

// A call that crashes or never ends is told by the line before it.
TEST(LessonExercise, ACallIsAnnouncedWithItsArguments) {
  double (*const yours)(const Tensor&, const std::vector<double>&, const std::function<void()>&) =
      lessons::announced<first_of>;
  testing::internal::CaptureStdout();
  EXPECT_EQ(yours(zeros({2, 3}), {1, 0.5}, [] {}), 1);
  EXPECT_THROW(yours(zeros({}), {}, {}), std::out_of_range);
  yours(zeros({2}), std::vector<double>(24), {});
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char* words : {": (tensor [2, 3], {1, 0.5}, …)\n", ": (tensor [], {}, …)\n",
                            ": (tensor [2], 24 numbers, …)\n"})
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

}  // namespace
}  // namespace ladon::test
