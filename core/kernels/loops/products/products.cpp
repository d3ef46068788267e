#include "ladon/core/kernels/loops/products/products.h"

#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

constexpr int64_t block = 32;  // number of sums that stay in registers

template <class Count>
void sum_columns(const double* a, const double* b, int64_t rows, int64_t n, double scale,
                 Count count, double* y) {
  double sums[block] = {};
  for (int64_t c = 0; c < rows; ++c)
#pragma omp simd
    for (int64_t t = 0; t < count; ++t) sums[t] += a[c * n + t] * b[c * n + t];
  for (int64_t t = 0; t < count; ++t) y[t] = scale * sums[t];
}

struct WholeBlock {
  constexpr operator int64_t() const { return block; }
};

void column_products(const double* a, const double* b, int64_t rows, int64_t n, double scale,
                     double* y) {
  int64_t t = 0;
  for (; t + block <= n; t += block) sum_columns(a + t, b + t, rows, n, scale, WholeBlock(), y + t);
  if (t < n) sum_columns(a + t, b + t, rows, n, scale, n - t, y + t);
}

}  // namespace

void add_products(Loops& table) { table.column_products = column_products; }

}  // namespace ladon::kernels::LADON_LEVEL
