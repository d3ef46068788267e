#include "ladon/core/extra/ranks/ranks_cholesky.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::ranks_cholesky_test {
namespace {

using test::expect_error;

/// Of the matrix with 2 on the diagonal and 1 beside it.
Tensor block(std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
  Tensor b = zeros({rows, columns}, f64);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t apart = std::abs(row + i - column - j);
      b.mutable_data<double>()[i * columns + j] = apart == 0 ? 2 : apart == 1 ? 1 : 0;
    }
  return b;
}

// Of many ranks: tests/ranks.
TEST(RanksCholesky, OneAloneFactorsBlockByBlock) {
  const std::int64_t n = 7;
  for (const std::int64_t side : {1, 3, 100}) {
    const ranks::Cholesky factor(n, 0, block, side);
    EXPECT_EQ(factor.size(), n);
    EXPECT_NEAR(factor.log_determinant(), std::log(8.0), 1e-12);  // n + 1
    // A·x for x = (1, …, 1)
    Tensor b = full({n, 1}, 4, f32);
    b.mutable_data<float>()[0] = b.mutable_data<float>()[n - 1] = 3;
    for (const double x : factor.solve(b).to_vector<double>()) EXPECT_NEAR(x, 1, 1e-12);
  }
  EXPECT_NEAR(ranks::Cholesky(1, 3, block).log_determinant(), std::log(5.0), 1e-12);
}

TEST(RanksCholesky, WhatItTakesIsChecked) {
  expect_error([] { ranks::Cholesky(0, 0, block); }, "needs 1 to");
  expect_error([] { ranks::Cholesky(3, 0, block, 0); }, "blocks must be at least 1");
  expect_error([] { ranks::Cholesky(3, NAN, block); }, "must be finite, got nan");
  expect_error([] { ranks::Cholesky(3, -3, block); }, "not positive definite");
  expect_error([] { ranks::Cholesky(3, 0, [](auto...) {
                      return zeros({2, 2}, f64);
                    }); },
               "a block must be f64 [3, 3], got f64 [2, 2]");
  const ranks::Cholesky factor(3, 0, block);
  expect_error([&] { factor.solve(zeros({2, 1})); }, "must be floating-point, [3, k]");
  expect_error([&] { factor.solve(Tensor()); }, "must be floating-point");
}

}  // namespace
}  // namespace ladon::ranks_cholesky_test
