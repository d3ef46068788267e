#include "ladon/core/kernels/loops/products/squares.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class E>
void transpose(int64_t rows, int64_t columns, const E* x, int64_t x_row, E* y, int64_t y_row) {
  transpose_by<square_side<E>>(rows, columns, x, x_row, y, y_row,
                               [](auto v, int64_t) { return v; });
}

/// Transposes bools as bytes.
void transpose_bool(int64_t rows, int64_t columns, const bool* x, int64_t x_row, bool* y,
                    int64_t y_row) {
  transpose(rows, columns, reinterpret_cast<const unsigned char*>(x), x_row,
            reinterpret_cast<unsigned char*>(y), y_row);
}

}  // namespace

void add_transpositions(Loops& table) {
  table.boolean.transpose = transpose_bool;
  table.half.transpose = transpose<std::uint16_t>;
  table.i64.transpose = transpose<int64_t>;
  table.f32.transpose = transpose<float>;
  table.f64.transpose = transpose<double>;
}

}  // namespace ladon::kernels::LADON_LEVEL
