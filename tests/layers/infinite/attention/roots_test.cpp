// Square roots (factors) of kernels over tokens: accurate for every token, however large other
// tokens are and however nearly it is a linear combination of others.

#include "ladon/layers/infinite/kernel/roots.h"

#include <cmath>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::roots_test {
namespace {

/// Largest |a − b| of an entry, in units of both tokens' standard deviations, which b has.
double distance_of_laws(const Tensor& a, const Tensor& b) {
  const Tensor deviation = sqrt(diagonal(b));
  return amax(abs(a - b) / (unsqueeze(deviation, -1) * unsqueeze(deviation, -2))).item();
}

/// Kernels [2, 5, 5] of tokens whose last is the first but for a share `new_share` of its variance,
/// times `scales`.
Tensor kernels(const std::vector<double>& scales, double new_share) {
  Tensor x = cast(test::gaussian({2, 5, 8}, 3), f64);
  const Tensor first = slice(x, 1, {.stop = 1}), last = slice(x, 1, {.start = 4});
  x = concat({slice(x, 1, {.stop = 4}), first + std::sqrt(new_share) * last}, 1) *
      unsqueeze(from_vector(scales, {5}), -1);
  return matmul(x, transpose(x));
}

TEST(Roots, AreExactForTokensOfAnyScaleAndNearlyExplainedOnes) {
  for (const std::vector<double>& scales : {std::vector<double>{1, 1, 1, 1, 1},
                                            {1e8, 1, 1, 1, 1},
                                            {1, 1, 1e-8, 1, 1e8},
                                            {1e-150, 1, 1e150, 1e-9, 1e9}})
    for (const double share : {1.0, 1e-4, 1e-8, 1e-10}) {
      SCOPED_TRACE(testing::Message() << share << ", " << scales[0]);
      const Tensor k = kernels(scales, share), root = infinite::lower_root(k, k);
      EXPECT_LT(distance_of_laws(matmul(root, transpose(root)), k), 1e-13);
      EXPECT_GT(amin(diagonal(root)).item(), 0) << "a token counts as explained";
    }
}

// What two of five tokens leave to the input is its own: both parts together are its kernel.
TEST(Roots, OfWhatLandmarksLeaveAreExactForTokensOfAnyScale) {
  for (const std::vector<double>& scales :
       {std::vector<double>{1, 1, 1, 1, 1}, {1e8, 1, 1, 1, 1}, {1, 1e-8, 1, 1e8, 1}}) {
    SCOPED_TRACE(scales[0]);
    const Tensor cov = slice(kernels(scales, 1e-8), 0, {.stop = 1});  // [1, T, T]
    const Tensor among = unsqueeze(cov, 0);                           // [N, N, T, T]
    const infinite::RootFactor factor = infinite::root_factor(among, 2);
    ASSERT_EQ(factor.pivots.size(), 2u);
    const Tensor common = infinite::coordinates(among, factor);
    const Tensor own = infinite::own_root(cov, common);
    EXPECT_LT(
        distance_of_laws(matmul(common, transpose(common)) + matmul(own, transpose(own)), cov),
        1e-13);
  }
}

// Pivots and factors of others index the landmarks: out of range they were read past the end.
TEST(Roots, RefusePivotsAndFactorsThatDoNotFit) {
  const Tensor k = reshape(eye(3, f64), {1, 1, 3, 3});
  const auto refused = [&](const std::vector<std::int64_t>& pivots, const char* message) {
    test::expect_error([&] { infinite::root_factor(k, 3, &pivots); }, message);
    const infinite::RootFactor factor{pivots, eye(2, f64)};
    test::expect_error([&] { infinite::coordinates(k, factor); }, message);
  };
  refused({0, 3}, "a pivot is 3, but the landmarks have 3 tokens");
  refused({-1, 0}, "a pivot is -1");
  refused({2, 2}, "token 2 is a pivot twice");
  test::expect_error([&] { infinite::root_factor(cast(k, f32), 3); }, "got f32 [1, 1, 3, 3]");
  test::expect_error([&] { infinite::root_factor(ones({1, 2, 3, 3}, f64), 3); }, "all pairs");
  test::expect_error(
      [&] {
        infinite::coordinates(k, {{0, 1}, eye(1, f64)});
      },
      "has 2 pivots, so its inverse must be f64 [2, 2], got f64 [1, 1]");
  test::expect_error([&] { infinite::coordinates(k, {{0}, {}}); }, "an undefined tensor");
  const std::vector<std::int64_t> right{2, 0};
  EXPECT_EQ(infinite::root_factor(k, 3, &right).pivots, right);
}

}  // namespace
}  // namespace ladon::roots_test
