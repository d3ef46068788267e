#include "ladon/core/linalg/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::lapack {
namespace {

using std::int64_t;

constexpr int64_t panel = 32;               // reflections that are applied in one product
constexpr int64_t part_elements = 1 << 15;  // elements of the triangle per task in multiply()
constexpr int64_t most_parts = 32;
constexpr int64_t strip = 128;  // rows of A per task in subtract_panel()

/// The reduction of one matrix, from its last row upwards. For each row, a reflection
/// H = I − tau·v·vᵀ makes all elements left of the diagonal 0, except the one next to it. A becomes
/// H·A·H = A − v·wᵀ − w·vᵀ with a vector w computed from A·v. Within a panel of rows, only the
/// elements that are needed next are updated immediately; the other elements are updated at the end
/// of the panel, in one matrix product (Dongarra, Hammarling and Sorensen 1989).
template <class T>
class Reduction {
 public:
  Reduction(int64_t n, T* a, T* d, T* e, T* tau)
      : n_(n),
        a_(a),
        d_(d),
        e_(e),
        tau_(tau),
        panel_(static_cast<std::size_t>(3 * panel * n)),
        sums_(static_cast<std::size_t>(most_parts * n)) {}

  void operator()() {
    for (int64_t end = n_; end > 0;) {
      const int64_t first = std::max<int64_t>(0, end - panel);
      for (int64_t i = end - 1, k = 0; i >= first; --i, ++k) take_row(i, k);
      if (first > 0) subtract_panel(first);
      end = first;
    }
  }

 private:
  T* row(int64_t i) { return a_ + i * n_; }
  // The rows of panel_ are v₀ v₁ … w₀ w₁ … v₀ v₁ …, so that the matrices [v; w] and [w; v] are both
  // contiguous.
  T* v(int64_t k) { return panel_.data() + k * n_; }
  T* w(int64_t k) { return v(panel + k); }

  /// Processes row i of A, which is row k of the panel: applies the earlier reflections of the
  /// panel to it, and computes its own reflection and w.
  void take_row(int64_t i, int64_t k) {
    T coefficients[2 * panel] = {};
    const auto& loop = loops_.symmetric;
    for (int64_t j = 0; j < k; ++j) {
      coefficients[j] = -w(j)[i];
      coefficients[k + j] = -v(j)[i];
    }
    loop.add_rows(k, i + 1, coefficients, v(0), n_, row(i));
    loop.add_rows(k, i + 1, coefficients + k, w(0), n_, row(i));
    d_[i] = row(i)[i];
    if (i == 0) return;
    reflect(i);
    std::copy_n(row(i), i, v(k));
    std::copy_n(row(i), i, v(2 * panel + k));
    multiply(i, v(k), w(k));
    // Corrects A·v for the reflections of this panel, which have not been applied to A yet.
    loop.dots(k, i, w(0), n_, v(k), coefficients);
    loop.dots(k, i, v(0), n_, v(k), coefficients + k);
    for (T& c : coefficients) c = -c;
    loop.add_rows(k, i, coefficients, v(0), n_, w(k));
    loop.add_rows(k, i, coefficients + k, w(0), n_, w(k));
    T along;
    loop.dots(1, i, w(k), n_, v(k), &along);
    const T t = tau_[i - 1];
    loops_.axpby(t, w(k), T(-0.5) * t * t * along, v(k), i);
  }

  /// Replaces the first i elements of row i by v, with v[i − 1] = 1, and computes tau and the
  /// off-diagonal element. The elements are scaled, so that their squares do not underflow; a row
  /// whose elements are all tiny counts as 0.
  void reflect(int64_t i) {
    using Limits = std::numeric_limits<T>;
    T *x = row(i), &alpha = x[i - 1];
    const T largest = std::max(loops_.reduce[int(kernels::Reduce::max)](x, i - 1),
                               -loops_.reduce[int(kernels::Reduce::min)](x, i - 1));
    T& tau = tau_[i - 1];
    if (i == 1 || !(largest > Limits::min() / Limits::epsilon())) {
      e_[i - 1] = alpha;
      tau = 0;
      std::fill_n(x, i - 1, T(0));
    } else {
      const T scale = std::max(largest, std::abs(alpha)), head = alpha / scale;
      loops_.axpby(T(1) / scale, x, T(0), x, i - 1);
      T squares;
      loops_.symmetric.dots(1, i - 1, x, n_, x, &squares);
      const T beta = -std::copysign(std::sqrt(head * head + squares), head);
      loops_.axpby(T(1) / (head - beta), x, T(0), x, i - 1);
      tau = (beta - head) / beta;
      e_[i - 1] = beta * scale;
    }
    alpha = 1;
  }

  /// y ← A·x for the leading block [m, m] of A. Its lower triangle is divided into parts of equal
  /// size, which run in parallel; their results are added in a fixed order.
  void multiply(int64_t m, const T* x, T* y) {
    const int64_t parts = std::clamp(m * m / 2 / part_elements, int64_t(1), most_parts);
    const auto begin = [=](int64_t part) {
      return std::llround(static_cast<double>(m) * std::sqrt(double(part) / double(parts)));
    };
    parallel::for_range(parts, 1, [&](int64_t part, int64_t) {
      T* sum = part == 0 ? y : sums_.data() + part * n_;
      std::fill_n(sum, part == 0 ? m : begin(part + 1), T(0));
      loops_.symmetric.multiply(a_, n_, begin(part), begin(part + 1), x, sum);
    });
    for (int64_t part = 1; part < parts; ++part)
      loops_.axpby(T(1), y, T(1), sums_.data() + part * n_, begin(part + 1));
  }

  /// Subtracts Σ (v·wᵀ + w·vᵀ) over the panel from the lower triangle of the leading block [m, m].
  void subtract_panel(int64_t m) {
    parallel::for_range(m, strip, [&](int64_t first, int64_t end) {
      blas::gemm_serial<T>(end - first, end, 2 * panel, T(-1), {v(0) + first, 1, n_}, {w(0), n_, 1},
                           T(1), {row(first), n_, 1});
    });
  }

  const kernels::LoopsOf<T>& loops_ = kernels::loops().of<T>();
  int64_t n_;
  T *a_, *d_, *e_, *tau_;
  std::vector<T> panel_, sums_;
};

}  // namespace

template <class T>
void make_tridiagonal(int64_t n, T* a, T* d, T* e, T* tau) {
  Reduction<T>(n, a, d, e, tau)();
}

template void make_tridiagonal(int64_t, float*, float*, float*, float*);
template void make_tridiagonal(int64_t, double*, double*, double*, double*);

}  // namespace ladon::lapack
