#include <gtest/gtest.h>

#include <vector>

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels_transpose_test {
namespace {

/// Rows and columns around the sides of all squares (16, 8, 4, 2), with gaps between rows, which
/// stay as they are.
template <class E, class Loop>
void check(const Loop& loop) {
  for (const std::int64_t rows : {0, 1, 3, 8, 17, 40})
    for (const std::int64_t columns : {0, 1, 5, 16, 31, 33}) {
      const std::int64_t x_row = columns + 2, y_row = rows + 1;
      std::vector<E> x(static_cast<std::size_t>(rows * x_row + 1));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<E>(i % 251);
      std::vector<E> y(static_cast<std::size_t>(columns * y_row + 1), E(7));
      loop(rows, columns, x.data(), x_row, y.data(), y_row);
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < y_row; ++i)
          ASSERT_EQ(y[static_cast<std::size_t>(j * y_row + i)],
                    i < rows ? x[static_cast<std::size_t>(i * x_row + j)] : E(7))
              << rows << " x " << columns << " at " << i << ", " << j;
      ASSERT_EQ(y.back(), E(7));
    }
}

TEST(KernelsTranspose, TurnsMatricesOfAnySizeAndItem) {
  const kernels::Loops& loops = kernels::loops();
  check<float>(loops.f32.transpose);
  check<double>(loops.f64.transpose);
  check<std::int64_t>(loops.i64.transpose);
  check<std::uint16_t>(loops.half.transpose);
  // vector<bool> holds bits.
  const bool x[6] = {true, false, false, true, true, false};
  bool y[6];
  loops.boolean.transpose(2, 3, x, 3, y, 2);
  EXPECT_EQ(std::vector<bool>(y, y + 6),
            (std::vector<bool>{true, true, false, true, false, false}));
}

TEST(KernelsTranspose, TurnsManyBooleans) {
  constexpr std::int64_t rows = 70, columns = 50;
  std::vector<unsigned char> bytes(rows * columns), turned(rows * columns);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i * i % 7 < 3;
  kernels::loops().boolean.transpose(rows, columns, reinterpret_cast<const bool*>(bytes.data()),
                                     columns, reinterpret_cast<bool*>(turned.data()), rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      ASSERT_EQ(turned[j * rows + i], bytes[i * columns + j]) << i << ", " << j;
}

}  // namespace
}  // namespace ladon::kernels_transpose_test
