#pragma once
// Inner products of the columns of two matrices: of pixels with the same pixels of another image
// (layers/infinite/kernel/inputs.cpp).

#include <cstdint>

namespace ladon::kernels {

/// y[t] = scale·Σ_c a[c·n + t]·b[c·n + t] for t < n, summed over the rows c < `rows` in order.
using ColumnProductsLoop = void (*)(const double* a, const double* b, std::int64_t rows,
                                    std::int64_t n, double scale, double* y);

}  // namespace ladon::kernels
