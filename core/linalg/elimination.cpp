#include "ladon/core/linalg/elimination.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::elimination {
namespace {

/// The system A·X = B of row-major A [n, n] and B [n, k], on memory that it overwrites.
template <class T>
struct System {
  std::int64_t n, k;
  T *a, *b;

  /// A ← U and B ← L⁻¹·P·B, where P·A = L·U. Elements of A below U's diagonal are lost. Returns the
  /// sign of P.
  T eliminate() const {
    T sign = 1;
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t p = pivot_of(j);
      if (p != j) {
        sign = -sign;
        std::swap_ranges(a + j * n + j, a + j * n + n, a + p * n + j);
        std::swap_ranges(b + j * k, b + j * k + k, b + p * k);
      }
      if (a[j * n + j] == 0) continue;  // column j is 0 from row j on
      for (std::int64_t i = j + 1; i < n; ++i) {
        const T share = a[i * n + j] / a[j * n + j];
        subtract(share, a + j * n + j + 1, a + i * n + j + 1, n - j - 1);
        subtract(share, b + j * k, b + i * k, k);
      }
    }
    return sign;
  }

  /// B ← U⁻¹·B. Returns false if a pivot is 0.
  bool substitute() const {
    for (std::int64_t i = n - 1; i >= 0; --i) {
      if (a[i * n + i] == 0) return false;
      for (std::int64_t j = i + 1; j < n; ++j) subtract(a[i * n + j], b + j * k, b + i * k, k);
      for (std::int64_t c = 0; c < k; ++c) b[i * k + c] /= a[i * n + i];
    }
    return true;
  }

 private:
  /// Index of the row, from j on, that has the largest magnitude in column j (the first of equal
  /// ones).
  std::int64_t pivot_of(std::int64_t j) const {
    std::int64_t p = j;
    for (std::int64_t i = j + 1; i < n; ++i)
      if (std::abs(a[i * n + j]) > std::abs(a[p * n + j])) p = i;
    return p;
  }
  static void subtract(T share, const T* from, T* to, std::int64_t count) {
    for (std::int64_t c = 0; c < count; ++c) to[c] -= share * from[c];
  }
};

/// Whether all elements are finite. x − x is 0 for a finite x, and NaN for any other.
template <class T>
bool finite(const T* x, std::int64_t count) {
  T none = 0;
  for (std::int64_t i = 0; i < count; ++i) none += x[i] - x[i];
  return none == 0;
}

/// Calls body(i), which returns whether it succeeded, for each of `count` matrices [n, n], on all
/// threads. Returns whether all calls succeeded.
template <class Body>
bool for_each(std::int64_t count, std::int64_t n, const Body& body) {
  std::atomic<bool> all = true;
  parallel::for_range(count, 1 + (1 << 15) / (1 + n * n * n),
                      [&](std::int64_t begin, std::int64_t end) {
                        for (std::int64_t i = begin; i < end && all; ++i)
                          if (!body(i)) all = false;
                      });
  return all;
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b) {
  const std::int64_t count = a.size(0), n = a.size(1), k = b.size(2);
  Tensor u = kernels::clone(a), x = kernels::clone(b);
  const bool solved = visit_floating("solve", a.dtype(), [&]<class T>() {
    T *matrices = u.mutable_data<T>(), *sides = x.mutable_data<T>();
    return for_each(count, n, [=](std::int64_t i) {
      const System<T> system{n, k, matrices + i * n * n, sides + i * n * k};
      if (!finite(system.a, n * n) || !finite(system.b, n * k)) return false;
      system.eliminate();
      return system.substitute();
    });
  });
  return solved ? x : Tensor();
}

Tensor pivots(const Tensor& a) {
  const std::int64_t count = a.size(0), n = a.size(1);
  Tensor u = kernels::clone(a), y = empty({count, n + 1}, a.dtype());
  const bool known = visit_floating("pivots", a.dtype(), [&]<class T>() {
    T *matrices = u.mutable_data<T>(), *rows = y.mutable_data<T>();
    return for_each(count, n, [=](std::int64_t i) {
      const System<T> system{n, 0, matrices + i * n * n, nullptr};
      if (!finite(system.a, n * n)) return false;
      T* row = rows + i * (n + 1);
      row[n] = system.eliminate();
      for (std::int64_t j = 0; j < n; ++j) row[j] = system.a[j * (n + 1)];
      return true;
    });
  });
  return known ? y : Tensor();
}

}  // namespace ladon::elimination
