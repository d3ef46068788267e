#include "ladon/core/extra/data/ensemble.h"

#include <cmath>

#include "ladon/tests/support.h"

namespace ladon::test::ensemble_test {
namespace {

using namespace metrics;  // NOLINT: all that is tested here

// Three members, two rows, two classes: they vote 0 0 1 on the first row and 1 1 1 on the second.
const Tensor members = tensor({0.9, 0.1, 0.2, 0.8,  //
                               0.6, 0.4, 0.2, 0.8,  //
                               0.3, 0.7, 0.2, 0.8},
                              {3, 2, 2}, f64);

double entropy(double p) { return -p * std::log(p) - (1 - p) * std::log(1 - p); }

TEST(Ensemble, MeanIsOverMembers) {
  const Tensor mean = ensemble_mean(members);
  EXPECT_EQ(mean.shape(), Shape({2, 2}));
  const double expected[] = {0.6, 0.4, 0.2, 0.8};
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(mean.to_vector()[k], expected[k], 1e-15);
}

TEST(Ensemble, MutualInformationIsWhatMembersDisagreeAbout) {
  const std::vector<double> bald = mutual_information(members);
  EXPECT_NEAR(bald[0], entropy(0.6) - (entropy(0.9) + entropy(0.6) + entropy(0.3)) / 3, 1e-15);
  EXPECT_NEAR(bald[1], 0, 1e-15);
  // Two certain members of two minds know everything but who is right: ln 2.
  const std::vector<double> two = mutual_information(tensor({1, 0, 0, 1}, {2, 1, 2}));
  EXPECT_NEAR(two[0], std::log(2), 1e-15);
}

TEST(Ensemble, DisagreementIsOverPairs) {
  EXPECT_NEAR(disagreement(members), (2.0 / 3 + 0) / 2, 1e-15);
  EXPECT_EQ(disagreement(tensor({1, 0, 0, 1}, {2, 1, 2})), 1);
  EXPECT_TRUE(std::isnan(disagreement(ones({1, 2, 2}))));
  EXPECT_EQ(disagreement(ones({4, 2, 1})), 0);
}

TEST(Ensemble, VariationRatioIsTheShareOfLostVotes) {
  const std::vector<double> ratio = variation_ratio(members);
  EXPECT_NEAR(ratio[0], 1.0 / 3, 1e-15);
  EXPECT_EQ(ratio[1], 0);
}

TEST(Ensemble, RefusesBadInput) {
  expect_error([] { ensemble_mean(ones({2, 3})); }, "[S, N, C] with S, N, C > 0, got f32 [");
  expect_error([] { disagreement(ones({2, 0, 3})); }, "got f32 [2, 0, 3]");
  expect_error([] { mutual_information(ones({2, 2, 3}, i64)); }, "got i64");
  expect_error([] { variation_ratio(Tensor()); }, "[variation_ratio]");
}

}  // namespace
}  // namespace ladon::test::ensemble_test
