// Loops of batch norm, over blocks of rows of a row-major matrix whose columns are normalized by
// their moments. Throughout, d = (x − mean) − rest, where mean + rest is the mean of a column.

#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

template <class T>
void deviations(const T* x, const T* mean, const T* rest, int64_t rows, int64_t n, T* sum,
                T* squares) {
  for (int64_t r = 0; r < rows; ++r, x += n)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) {
      const T d = (x[c] - mean[c]) - rest[c];
      sum[c] += d;
      squares[c] += d * d;
    }
}

template <class T>
void normalize(const T* x, const T* mean, const T* rest, const T* scale, const T* bias,
               int64_t rows, int64_t n, T* y) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) y[c] = ((x[c] - mean[c]) - rest[c]) * scale[c] + bias[c];
}

template <class T>
void gradient_sums(const T* g, const T* x, const T* mean, const T* rest, int64_t rows, int64_t n,
                   T* sum, T* along) {
  for (int64_t r = 0; r < rows; ++r, x += n, g += n)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c) {
      sum[c] += g[c];
      along[c] += g[c] * ((x[c] - mean[c]) - rest[c]);
    }
}

template <class T>
void backward(const T* g, const T* x, const T* mean, const T* rest, const T* scale, const T* even,
              const T* slope, int64_t rows, int64_t n, T* dx) {
  for (int64_t r = 0; r < rows; ++r, x += n, g += n, dx += n)
#pragma omp simd
    for (int64_t c = 0; c < n; ++c)
      dx[c] = scale[c] * ((g[c] - even[c]) - ((x[c] - mean[c]) - rest[c]) * slope[c]);
}

template <class T>
void add_all(LoopsOf<T>& t) {
  t.columns = {deviations<T>, normalize<T>, gradient_sums<T>, backward<T>};
}

}  // namespace

void add_columns(Loops& table) {
  add_all(table.f32);
  add_all(table.f64);
}

}  // namespace ladon::kernels::LADON_LEVEL
