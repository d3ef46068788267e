#include "ladon/layers/infinite/kernel/law.h"

#include <gtest/gtest.h>

#include "ladon/tests/support.h"

namespace ladon::infinite::law_test {
namespace {

constexpr int nothing = Law::nothing, over_channels = Law::over_channels,
              everything = Law::everything;

TEST(Law, OfLayersInARow) {
  EXPECT_EQ(Law::data(), (Law{over_channels, false}));
  EXPECT_EQ(Law::random_linear(), (Law{everything, true}));
  EXPECT_EQ(Law::random_linear().after_nonlinearity(), (Law{nothing, false}));
  EXPECT_EQ(Law::random_linear().after_adding_fixed(), Law::data());
  EXPECT_EQ(Law::data().after_nonlinearity().after_adding_fixed(), (Law{nothing, false}));
  EXPECT_EQ(Law::random_linear().after_mixing(), (Law{everything, false}));
  EXPECT_EQ(Law::data(3).side_by_side(4), Law::data(12));
}

TEST(Law, OfBranchesIsTheirWeakest) {
  const Law linear = Law::random_linear(), data = Law::data(), passed = linear.into_branch(0);
  EXPECT_EQ(Law::of_sum({linear, linear}), linear);
  EXPECT_EQ(Law::of_sum({passed, linear}), passed);
  EXPECT_EQ(Law::of_sum({data, linear}), data);
  EXPECT_EQ(Law::of_product({linear, linear}), linear.after_mixing());
  EXPECT_EQ(Law::of_product({linear}), linear);
  EXPECT_EQ(Law::of_concatenation({linear, linear}), linear.after_mixing());
  EXPECT_EQ(Law::of_concatenation({linear, passed}), passed.after_mixing());
  EXPECT_EQ(Law::of_sum({Law::data(3), Law::data(3)}), Law::data(3));
  EXPECT_EQ(Law::of_sum({Law::data(3), linear}), Law::data());
  EXPECT_EQ(Law::of_concatenation({Law::data(3), Law::data(4)}), Law::data(7));
}

// The input of a branch has mean zero given the values before it, not given itself; the output of a
// linear map inside has it given the input, too.
TEST(Law, CountsWhatIsGivenFromTheBranchesAround) {
  const Law linear = Law::random_linear(), data = Law::data();
  EXPECT_EQ(linear.into_branch(0), (Law{1, true}));
  EXPECT_EQ(linear.into_branch(1), (Law{2, true}));
  EXPECT_EQ(linear.into_branch(0).into_branch(1), (Law{1, true}));
  EXPECT_EQ(data.into_branch(0), data);
  EXPECT_EQ(linear.into_branch(1).out_of_branch(1), linear);
  EXPECT_EQ(linear.into_branch(0).into_branch(1).out_of_branch(1), linear.into_branch(0));
  EXPECT_EQ(data.into_branch(0).out_of_branch(0), data);
  EXPECT_EQ(linear.out_of_branch(3), linear);
}

TEST(Law, NeedsNameTheLayer) {
  const Law data = Law::data(), passed = Law::random_linear().into_branch(0);
  test::expect_error([&] { data.need_gaussian("relu"); }, "[relu] the limit needs Gaussian inputs");
  test::expect_error([&] { data.need_mean_zero("Sinusoids"); }, "[Sinusoids] its limit needs");
  test::expect_error([&] { data.after_nonlinearity().need_means("LayerNorm"); },
                     "[LayerNorm] its limit needs");
  data.need_means("LayerNorm");
  test::expect_error([&] { passed.need_independent("Residual", "Identity"); }, "Identity");
  passed.need_gaussian("relu");
  passed.need_mean_zero("Sinusoids");
  passed.need_means("LayerNorm");
  Law::random_linear().need_independent("Residual", "Linear");
  test::expect_error([] { Law::data(7).need_channels("Linear", 5); },
                     "[Linear] expects 5 channels");
  Law::data(5).need_channels("Linear", 5);
  data.need_channels("Linear", 5);
}

}  // namespace
}  // namespace ladon::infinite::law_test
