#include "ladon/core/kernels/loops/products/weights.h"

#include "ladon/core/kernels/loops/bf16.h"
#include "ladon/core/kernels/loops/products/block.h"
#include "ladon/core/kernels/loops/products/panels.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int32_t;

// Number of vectors across a panel, and largest number of rows of A at a time. Together they give
// enough sums to hide the latency of an addition, but few enough to stay in registers.
constexpr int across = vector_bytes == 64 ? 4 : 2, most_rows = vector_bytes == 64 ? 6 : 4;
constexpr int lanes = row_lanes<float>;
constexpr int64_t columns = across * lanes;

typedef uint32_t Words __attribute__((vector_size(vector_bytes)));
typedef int32_t Integers __attribute__((vector_size(vector_bytes)));

/// The values of row i (0 ≤ i < rows) of a vector of words, each of which holds `rows` rows.
template <int rows>
LADON_INLINE Row<float> numbers(Words words, int i, Row<float> scale) {
  if constexpr (rows == 1)
    return __builtin_bit_cast(Row<float>, words);
  else if constexpr (rows == 2)
    return __builtin_bit_cast(Row<float>, i == 0 ? words << 16 : words & 0xffff0000);
  else
    return __builtin_convertvector(__builtin_bit_cast(Integers, words << (24 - 8 * i)) >> 24,
                                   Row<float>) *
           scale;
}

/// Calls row(p, values) for p < k, where values(j) is vector j of row p.
template <int rows, class Body>
LADON_INLINE void for_rows(int64_t k, const uint32_t* panel, const float* scales, const Body& row) {
  for (int64_t p = 0; p < k;) {
    alignas(vector_bytes) Row<float> scale[across] = {};
    if constexpr (rows == 4)
      for (int j = 0; j < across; ++j)
        scale[j] = row_at(scales + p / weight_group * columns + j * lanes);
    const int64_t end = k - p < weight_group ? k : p + weight_group;
    for (; p + rows <= end; panel += columns)
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i)
        row(p++, [&](int j) { return numbers<rows>(load<Words>(panel + j * lanes), i, scale[j]); });
    if constexpr (rows > 1)
      for (int i = 0; p < end; ++i)
        row(p++, [&](int j) { return numbers<rows>(load<Words>(panel + j * lanes), i, scale[j]); });
  }
}

template <int R, int rows>
[[gnu::noinline]] void multiply_block(int64_t n, int64_t k, const float* a, int64_t a_row,
                                      const uint32_t* panel, const float* scales, const float* row,
                                      float* c, int64_t c_row) {
  Block<R, across, float> block;
  for_rows<rows>(k, panel, scales, [&](int64_t p, const auto& of_row) {
    block.add_product([&](int i) { return a[i * a_row + p]; }, of_row);
  });
  block.store(n, row, 0, c, c_row);
}

template <int rows>
void multiply(int64_t m, int64_t n, int64_t k, const float* a, int64_t a_row, const uint32_t* panel,
              const float* scales, const float* row, float* c, int64_t c_row) {
  for (int64_t i = 0; i < m; i += most_rows)
    with_number<most_rows>(m - i, [&](auto here) {
      multiply_block<here.value, rows>(n, k, a + i * a_row, a_row, panel, scales, row,
                                       c + i * c_row, c_row);
    });
}

/// Finds, for each column of x [k, columns], the scale, which is the largest |x| divided by 127,
/// and its inverse. Both are 0 if the scale is below the normal numbers; the scale is NaN if an
/// element of the column is not finite.
void find_scales(int64_t k, const float* x, float* scales, float* inverse) {
  float nothing[columns] = {};
  for (int64_t j = 0; j < columns; ++j) scales[j] = 0;
  for (int64_t p = 0; p < k; ++p, x += columns)
#pragma omp simd
    for (int64_t j = 0; j < columns; ++j) {
      scales[j] = at_least(abs(x[j]), scales[j]);
      nothing[j] += 0 * x[j];
    }
#pragma omp simd
  for (int64_t j = 0; j < columns; ++j) {
    const float scale = scales[j] / 127;
    inverse[j] = scale < Format<float>::least_normal ? 0 : 1 / scale;
    scales[j] = (inverse[j] == 0 ? 0 : scale) + nothing[j];
  }
}

LADON_INLINE uint32_t byte_of(float multiple) {
  const float whole = (multiple + Format<float>::magic) - Format<float>::magic;
  const float above = whole > -127 ? whole : -127;  // NaN becomes −127
  return static_cast<uint32_t>(static_cast<int32_t>(above < 127 ? above : 127)) & 0xff;
}

template <int rows>
void narrow(int64_t k, const float* x, uint32_t* panel, float* scales) {
  float inverse[columns] = {};
  for (int64_t p = 0; p < k; p += rows, panel += columns) {
    if (rows == 4 && p % weight_group == 0)
      find_scales(k - p < weight_group ? k - p : weight_group, x + p * columns,
                  scales + p / weight_group * columns, inverse);
    for (int64_t j = 0; j < columns; ++j) panel[j] = 0;
    for (int64_t i = 0; i < rows && p + i < k; ++i)
#pragma omp simd
      for (int64_t j = 0; j < columns; ++j) {
        const float number = x[(p + i) * columns + j];
        panel[j] |= (rows == 1   ? bits(number)
                     : rows == 2 ? to_bf16(number)
                                 : byte_of(number * inverse[j]))
                    << (32 / rows * i);
      }
  }
}

template <int rows>
constexpr WeightLoops loops_of{rows, narrow<rows>, multiply<rows>};

}  // namespace

void add_weights(Loops& table) {
  static constexpr WeightForms forms{
      columns, {loops_of<1>, loops_of<2>, loops_of<4>}, pack<columns, float>};
  table.weights = &forms;
}

}  // namespace ladon::kernels::LADON_LEVEL
