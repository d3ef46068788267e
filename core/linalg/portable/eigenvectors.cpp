#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/linalg/routines.h"
#include "ladon/core/linalg/tridiagonal.h"

namespace ladon::routines {
namespace {

using std::int64_t;

/// Rotations of neighbouring rows of a matrix z [n, n]. They are collected until there are many,
/// and then all are applied to one strip of columns after the other, which stays in the cache.
template <class T>
class Rotations {
 public:
  Rotations(int64_t n, T* z) : n_(n), z_(z) {}
  ~Rotations() { apply(); }

  /// Adds the rotation in which rows r_i and r_{i+1} become c·r_i − s·r_{i+1} and
  /// s·r_i + c·r_{i+1}.
  void add(int64_t i, T c, T s) {
    if (!z_) return;
    held_.push_back({i, c, s});
    if (static_cast<int64_t>(held_.size()) >= 64 * n_) apply();
  }

 private:
  struct Rotation {
    int64_t row;
    T c, s;
  };

  void apply() {
    constexpr int64_t strip = 64;
    for (int64_t begin = 0; begin < n_; begin += strip) {
      const int64_t width = std::min(strip, n_ - begin);
      for (const Rotation& r : held_) {
        T *upper = z_ + r.row * n_ + begin, *lower = upper + n_;
        for (int64_t j = 0; j < width; ++j) {
          const T x = upper[j], y = lower[j];
          upper[j] = r.c * x - r.s * y;
          lower[j] = r.s * x + r.c * y;
        }
      }
    }
    held_.clear();
  }

  int64_t n_;
  T* z_;
  std::vector<Rotation> held_;
};

/// One implicit QL step on rows [l, m] of the tridiagonal matrix with diagonal d and off-diagonal
/// e. The shift is Wilkinson's: the eigenvalue of the first 2 × 2 block that is nearer to d[l]. A
/// rotation of the last two rows creates an element outside the three diagonals, and further
/// rotations move this element up to row l, where it vanishes.
template <class T>
void ql_step(int64_t l, int64_t m, T* d, T* e, Rotations<T>& rotations) {
  const T half = (d[l + 1] - d[l]) / (2 * e[l]);
  T g = d[m] - d[l] + e[l] / (half + std::copysign(std::hypot(half, T(1)), half));
  T s = 1, c = 1, p = 0;
  for (int64_t i = m - 1; i >= l; --i) {
    const T f = s * e[i], b = c * e[i], r = std::hypot(f, g);
    if (i + 1 < m) e[i + 1] = r;
    if (r == 0) {  // the tridiagonal matrix falls into two parts below row i + 1
      d[i + 1] -= p;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    const T t = (d[i] - g) * s + 2 * c * b;
    p = s * t;
    d[i + 1] = g + p;
    g = c * t - b;
    rotations.add(i, c, s);
  }
  d[l] -= p;
  e[l] = g;
}

/// Diagonalizes the 2 × 2 block of rows l, l + 1 by one Jacobi rotation (Golub and Van Loan, 8.5),
/// so that an eigenvalue of exactly 0 is computed as 0.
template <class T>
void diagonalize_pair(int64_t l, T* d, T* e, Rotations<T>& rotations) {
  const T half = (d[l + 1] - d[l]) / (2 * e[l]);
  const T t = std::copysign(1 / (std::abs(half) + std::hypot(half, T(1))), half);
  const T c = 1 / std::hypot(t, T(1));
  d[l] -= t * e[l];
  d[l + 1] += t * e[l];
  e[l] = 0;
  rotations.add(l, c, t * c);
}

/// Implicit QL iteration for the tridiagonal matrix with diagonal d and off-diagonal e (Golub and
/// Van Loan, 8.3; Bowdler, Martin, Reinsch and Wilkinson 1968). Writes the eigenvalues to d,
/// unordered, and applies the rotations to z, unless z is null. Elements of e that are negligible
/// compared with the largest |d_i| + |e_i| count as 0. Returns whether the iteration converges.
template <class T>
bool ql(int64_t n, T* d, T* e, T* z) {
  constexpr int most_steps = 60;  // per eigenvalue; two or three are usual
  Rotations<T> rotations(n, z);
  T size = 0;
  for (int64_t i = 0; i < n; ++i)
    size = std::max(size, std::abs(d[i]) + (i + 1 < n ? std::abs(e[i]) : 0));
  for (int64_t l = 0; l < n; ++l)
    for (int steps = 0;; ++steps) {
      int64_t m = l;  // the last row of the unreduced part that begins with row l
      while (m + 1 < n && size + std::abs(e[m]) > size) ++m;
      if (m == l) break;
      if (m == l + 1) {
        diagonalize_pair(l, d, e, rotations);
        break;
      }
      if (steps == most_steps) return false;
      ql_step(l, m, d, e, rotations);
    }
  return true;
}

/// Binary exponent of the largest element of the lower triangle of a [n, n].
template <class T>
int exponent_of(int64_t n, const T* a) {
  T most = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) most = std::max(most, std::abs(a[i * n + j]));
  return most == 0 ? 0 : std::ilogb(most);
}

}  // namespace

template <class T>
int stedc(int n, T* d, T* e, T* z) {
  const int64_t size = n;
  std::vector<T> turned(size * size);
  for (int64_t i = 0; i < size; ++i) turned[i * (size + 1)] = 1;
  if (!ql(size, d, e, turned.data())) return 1;
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [d](int64_t i, int64_t j) { return d[i] < d[j]; });
  std::sort(d, d + size);
  for (const int64_t i : order) z = std::copy_n(turned.data() + i * size, size, z);
  return 0;
}

// Q = H_{n−1}·…·H_1, where H_i = I − tau·v·vᵀ is the reflection whose v is in row i of `a`, left of
// the diagonal. H_1 is applied to the rows of z first.
template <class T>
void ormtr(int n, int rows, const T* a, const T* tau, T* z) {
  constexpr int64_t strip = 32;
  const auto& loop = kernels::loops().of<T>();
  for (int64_t begin = 0; begin < rows; begin += strip) {
    const int64_t here = std::min<int64_t>(strip, rows - begin);
    T* first = z + begin * n;
    for (int64_t i = 1; i < n; ++i) {
      const T* v = a + i * n;
      T along[strip];
      loop.symmetric.dots(here, i, first, n, v, along);
      for (int64_t r = 0; r < here; ++r)
        loop.axpby(T(1), first + r * n, -tau[i - 1] * along[r], v, i);
    }
  }
}

// A is scaled by a power of two, without rounding, so that squares of elements stay in T's range.
template <class T>
int syevd(bool vectors, int n, T* a, T* values) {
  const int64_t size = n, count = size * size;
  const int exponent = exponent_of(size, a);
  for (int64_t i = 0; i < count; ++i) a[i] = std::scalbn(a[i], -exponent);
  std::vector<T> e(size), tau(e);
  lapack::make_tridiagonal(size, a, values, e.data(), tau.data());
  int info = 0;
  if (vectors) {
    std::vector<T> z(count);
    info = stedc(n, values, e.data(), z.data());
    ormtr(n, n, a, tau.data(), z.data());
    std::copy(z.begin(), z.end(), a);
  } else {
    info = ql<T>(size, values, e.data(), nullptr) ? 0 : 1;
    std::sort(values, values + size);
  }
  for (int64_t i = 0; i < size; ++i) values[i] = std::scalbn(values[i], exponent);
  return info;
}

#define LADON_ROUTINES(T)                \
  template int syevd(bool, int, T*, T*); \
  template int stedc(int, T*, T*, T*);   \
  template void ormtr(int, int, const T*, const T*, T*);
LADON_ROUTINES(float)
LADON_ROUTINES(double)
#undef LADON_ROUTINES

}  // namespace ladon::routines
