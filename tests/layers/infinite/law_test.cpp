#include "ladon/layers/infinite/kernel/law.h"

#include <gtest/gtest.h>

#include "ladon/tests/support.h"

namespace ladon::infinite {
namespace {

using Mean = Law::Mean;

TEST(Law, OfLayersInARow) {
  EXPECT_EQ(Law::data(), (Law{Mean::unknown, false}));
  EXPECT_EQ(Law::random_linear(), (Law{Mean::zero_given_input, true}));
  EXPECT_EQ(Law::random_linear().after_nonlinearity(), Law::data());
  EXPECT_EQ(Law::random_linear().after_mixing(), (Law{Mean::zero_given_input, false}));
  EXPECT_EQ(Law::random_linear().into_branch(), (Law{Mean::zero, true}));
  EXPECT_EQ(Law::data().into_branch(), Law::data());
}

TEST(Law, OfBranchesIsTheirWeakest) {
  const Law linear = Law::random_linear(), data = Law::data(), passed = linear.into_branch();
  EXPECT_EQ(Law::of_sum({linear, linear}, true), linear);
  EXPECT_EQ(Law::of_sum({passed, linear}, false), passed);
  EXPECT_EQ(Law::of_sum({linear, linear}, false), passed);
  EXPECT_EQ(Law::of_sum({data, linear}, false), data);
  EXPECT_EQ(Law::of_product({linear, linear}, true), linear.after_mixing());
  EXPECT_EQ(Law::of_product({linear}, true), linear);
  EXPECT_EQ(Law::of_concatenation({linear, linear}), linear.after_mixing());
  EXPECT_EQ(Law::of_concatenation({linear, passed}), passed.after_mixing());
}

TEST(Law, NeedsNameTheLayer) {
  const Law data = Law::data(), passed = Law::random_linear().into_branch();
  test::expect_error([&] { data.need_gaussian("relu"); }, "[relu] the limit needs Gaussian inputs");
  test::expect_error([&] { data.need_mean_zero("LayerNorm"); }, "[LayerNorm] its limit needs");
  test::expect_error([&] { passed.need_independent("Residual", "Identity"); }, "Identity");
  passed.need_gaussian("relu");
  passed.need_mean_zero("LayerNorm");
  Law::random_linear().need_independent("Residual", "Linear");
}

}  // namespace
}  // namespace ladon::infinite
