// Products, factorizations, eigenvectors and a layer on one thread: the fastest of several calls,
// in milliseconds of processor time, which other programs disturb less. They are OpenBLAS's in a
// build with OpenBLAS, and the library's own loops in a build with LADON_PORTABLE.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "ladon/core/linalg/lapack.h"
#include "ladon/ladon.h"

namespace {

using namespace ladon;

template <class Work>
void row(const std::string& name, int calls, const Work& work) {
  double least = 0;
  for (int i = 0; i <= calls; ++i) {  // the first fills the allocator's caches
    const std::clock_t start = std::clock();
    work();
    const double taken = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    least = i <= 1 ? taken : std::min(least, taken);
  }
  std::printf("%-32s %9.3f\n", name.c_str(), least);
}

}  // namespace

int main() {
  set_num_threads(1);
  const NoGrad off;
  Generator rng(1);
  const auto square = [&rng](std::int64_t n, DType dtype) {
    return normal({n, n}, rng, 0, 1, dtype);
  };
  for (const DType dtype : {f32, f64}) {
    const Tensor a = square(16, dtype), b = square(16, dtype), c = square(512, dtype);
    row(detail::join("1000 times matmul 16 ", dtype), 20, [&] {
      for (int i = 0; i < 1000; ++i) matmul(a, b);
    });
    row(detail::join("matmul 512 ", dtype), 20, [&] { matmul(c, c); });
  }
  const Tensor x = square(1000, f64), a = matmul(x, transpose(x)) + eye(1000, f64);
  const Tensor l = lapack::cholesky(a), part = slice(slice(a, 0, {0, 300}), 1, {0, 300});
  row("Cholesky 1000 f64", 10, [&] { lapack::cholesky(a); });
  row("Cholesky solve 1000 f64", 5, [&] { lapack::cholesky_solve(l, x); });
  row("LU 1000 f64", 10, [&] { lapack::lu(x); });
  row("eigenvectors 300 f64", 10, [&] { lapack::eigh(part); });
  row("eigenvectors 1000 f64", 3, [&] { lapack::eigh(a); });
  row("eigenvalues 1000 f64", 3, [&] { lapack::eigenvalues(a); });
  const MultiHeadAttention layer({.dim = 512, .heads = 8}, rng);
  const Tensor tokens = normal({4, 256, 512}, rng);
  row("attention [4, 256, 512] f32", 20, [&] { layer(tokens); });
}
