#include "ladon/core/matmul_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::matmul_precision_test {
namespace {

using kernels::matmul;
using layout::same_bits;

class Precision : public ::testing::Test {
 protected:
  void SetUp() override { set_matmul_precision(MatmulPrecision::medium); }
  void TearDown() override { set_matmul_precision(MatmulPrecision::highest); }
};

Tensor highest(const Tensor& a, const Tensor& b) {
  set_matmul_precision(MatmulPrecision::highest);
  const Tensor y = matmul(a, b);
  set_matmul_precision(MatmulPrecision::medium);
  return y;
}

TEST_F(Precision, MediumErrsByTheRoundingOfOperandsAtMost) {
  Generator rng(1);
  const Shape left[] = {{300, 256}, {257, 301}, {64, 700}},
              right[] = {{256, 200}, {301, 95}, {700, 129}};
  for (int i = 0; i < 3; ++i) {
    const Tensor a = normal(left[i], rng), b = normal(right[i], rng);
    const Tensor y = matmul(a, b), exact = highest(a, b);
    const Tensor size =
        highest(kernels::unary(kernels::Unary::abs, a), kernels::unary(kernels::Unary::abs, b));
    double worst = 0;
    for (std::int64_t j = 0; j < y.count(); ++j)
      worst = std::fmax(worst, std::abs(double{y.data<float>()[j]} - exact.data<float>()[j]) /
                                   size.data<float>()[j]);
    EXPECT_LE(worst, 0x1p-7) << y.shape();
    EXPECT_EQ(worst > 1e-5, kernels::has_bf16_products()) << worst;
  }
}

// Small whole numbers are numbers of bf16, and their sums numbers of f32.
TEST_F(Precision, MediumIsExactWhereOperandsAreBf16) {
  Generator rng(2);
  for (const std::int64_t k : {64, 65, 513}) {
    const Tensor a = kernels::cast(randint({130, k}, rng, -100, 100), f32);
    const Tensor b = kernels::cast(randint({k, 131}, rng, -100, 100), f32);
    EXPECT_TRUE(same_bits(matmul(a, b), highest(a, b))) << k;
  }
}

TEST_F(Precision, MediumHasTheSameBitsAtAnyNumberOfThreads) {
  Generator rng(3);
  const Tensor a = normal({500, 300}, rng), b = normal({300, 400}, rng);
  const int before = num_threads();
  set_num_threads(1);
  const Tensor one = matmul(a, b);
  set_num_threads(2);
  EXPECT_TRUE(same_bits(one, matmul(a, b)));
  set_num_threads(before);
}

TEST_F(Precision, OfDoublesAndSmallProductsIsAsEver) {
  Generator rng(4);
  const Tensor a = normal({200, 200}, rng, 0, 1, f64), b = normal({200, 200}, rng, 0, 1, f64);
  EXPECT_TRUE(same_bits(matmul(a, b), highest(a, b)));
  const Tensor c = normal({8, 8}, rng), d = normal({8, 8}, rng);
  EXPECT_TRUE(same_bits(matmul(c, d), highest(c, d)));
}

TEST_F(Precision, InfinityAndNaNPass) {
  Tensor a = full({128, 128}, 1, f32);
  a.mutable_data<float>()[5] = std::numeric_limits<float>::infinity();
  a.mutable_data<float>()[128 + 5] = std::numeric_limits<float>::quiet_NaN();
  const Tensor y = matmul(a, full({128, 128}, 2, f32));
  EXPECT_EQ(y.data<float>()[0], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(y.data<float>()[128]));
  EXPECT_EQ(y.data<float>()[256], 256);
}

}  // namespace
}  // namespace ladon::matmul_precision_test
