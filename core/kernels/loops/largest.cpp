// The probability that each of several independent normals of equal variance is the largest.

#include "ladon/core/kernels/loops/activations.h"
#include "ladon/core/kernels/loops/products/blocked.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;

// p_c = ∫ φ(x − μ_c) Π_{c' ≠ c} Φ(x − μ_c') dx in units of the standard deviation, with the largest
// mean at 0. The integrand of a class of mean −D peaks between −D/2 and 0, and at a distance of 10
// from the peak it is below e^(−50) times the peak; classes with D > 56 have probabilities below
// 1e-300. So the interval [−38, 12) suffices for all classes. The trapezoidal rule converges
// geometrically on such integrands.
constexpr double lowest = -38, spacing = 0.125;
constexpr int blocks = 5, block = 80;

/// Products of Φ over the classes before class c, or after it, at the points of a block.
struct Product {
  double at[block];
  LADON_INLINE Product() {
    for (double& one : at) one = 1;
  }
};

/// For each point x of the block that begins at `first`, with z = x + shift:
///   density ← exp(−z²/2)·left,  below ← Φ(z) (also computed from exp(−z²/2)),  left ← left·Φ(z).
LADON_INLINE void meet(double first, double shift, Product& left, double* density, double* below) {
#pragma omp simd
  for (int i = 0; i < block; ++i) {
    const double z = (first + spacing * i) + shift, a = abs(z);
    const double e = exp_below_flushed(-0.5 * z * z);
    const Ratio<double> tail = scaled_tail(at_most(a, gelu_bound<double>));
    const double outside = e * (tail.above / tail.below);
    density[i] = e * left.at[i];
    below[i] = z < 0 ? outside : 1 - outside;
    left.at[i] *= below[i];
  }
}

LADON_INLINE double integrate(const double* density, const double* below, Product& right) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < block; ++i) {
    sum += density[i] * right.at[i];
    right.at[i] *= below[i];
  }
  return sum;
}

void largest(int64_t classes, const double* mean, double deviation, double* p, double* work) {
  const double most = reduce_row<Reduce::max>(mean, classes);
  for (int64_t c = 0; c < classes; ++c) p[c] = 0;
  for (int b = 0; b < blocks; ++b) {
    Product left, right;
    for (int64_t c = 0; c < classes; ++c) {
      double* density = work + 2 * block * c;
      meet(lowest + spacing * (b * block), (most - mean[c]) / deviation, left, density,
           density + block);
    }
    for (int64_t c = classes - 1; c >= 0; --c) {
      const double* density = work + 2 * block * c;
      p[c] += integrate(density, density + block, right);
    }
  }
  const double total = reduce_row<Reduce::sum>(p, classes);
  for (int64_t c = 0; c < classes; ++c) p[c] /= total;
}

static_assert(2 * block == largest_work);

}  // namespace

void add_largest(Loops& table) { table.largest = largest; }

}  // namespace ladon::kernels::LADON_LEVEL
