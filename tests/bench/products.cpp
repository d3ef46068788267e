// Compares the library's own matrix products and its reduction to tridiagonal form with those of
// OpenBLAS on as many threads, to see whether each is still worth having. Matrices have m rows and
// n columns; k is the length of the sums.

#include <cblas.h>

#include <algorithm>
#include <functional>
#include <string>

#include "ladon/core/error.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/linalg/tridiagonal.h"
#include "ladon/core/random.h"
#include "measure.h"

extern "C" {
void openblas_set_num_threads(int threads);
void ssytrd_(const char* triangle, const int* n, float* a, const int* stride, float* d, float* e,
             float* tau, float* work, const int* length, int* info);
}

namespace {

using namespace ladon;
using Work = std::function<void()>;

/// The same work by Ladon and by OpenBLAS, which has threads of its own.
void compare(const std::string& name, double flops, const Work& prepare, const Work& ours,
             const Work& theirs) {
  bench::for_threads(name + "/ladon", [=](benchmark::State& state, int threads) {
    bench::measure(state, threads, flops, prepare, ours);
  });
  bench::for_threads(name + "/openblas", [=](benchmark::State& state, int threads) {
    bench::measure(
        state, threads, flops,
        [=] {
          prepare();
          openblas_set_num_threads(threads);
        },
        theirs);
    openblas_set_num_threads(1);
  });
}

void product(int m, int n, int k) {
  Generator rng(1);
  const Tensor a = normal({m, k}, rng), b = normal({k, n}, rng), c = empty({m, n});
  const auto* x = a.data<float>();
  const auto* y = b.data<float>();
  auto* z = Tensor(c).mutable_data<float>();
  compare(
      detail::join("product ", m, " x ", n, " x ", k), 2.0 * m * n * k, [a, b, c] {},
      [=] {
        blas::gemm<float>(m, n, k, 1, {x, k, 1}, {y, n, 1}, 0, {z, n, 1});
      },
      [=] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, k, y, n, 0, z, n);
      });
}

void tridiagonal(int n) {
  Generator rng(2);
  const Tensor source = normal({n, n}, rng);
  Tensor space = empty({n, n}), rest = empty({3, n}), work = empty({64, n});
  float *a = space.mutable_data<float>(), *d = rest.mutable_data<float>(),
        *w = work.mutable_data<float>();
  const auto restore = [source, space, rest, work, a] {
    std::copy_n(source.data<float>(), source.count(), a);
  };
  compare(
      detail::join("tridiagonal ", n), 4.0 / 3 * n * n * n, restore,
      [=] { lapack::make_tridiagonal<float>(n, a, d, d + n, d + 2 * n); },
      [=] {
        const int length = 64 * n;
        int info = 0;
        ssytrd_("U", &n, a, &n, d, d + n, d + 2 * n, w, &length, &info);
      });
}

}  // namespace

int main(int argc, char** argv) {
  for (const int side : {64, 128, 256, 1024, 2048}) product(side, side, side);
  product(4096, 64, 64);
  product(4096, 1024, 32);
  product(64, 64, 16384);
  for (const int n : {256, 1024, 2048}) tridiagonal(n);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
