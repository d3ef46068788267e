#pragma once
// The vector loops of dual activations: E[φ(u)φ(v)] for (u, v) ~ N(0, [[p, c], [c, q]]). They work
// on whole blocks of entries, so that an entry's bits do not depend on its position.

#include <cstdint>

namespace ladon::kernels {

/// Families of functions φ with a closed form of E, and their parameters f[0], f[1], …. For the
/// first four families, φ is shown for u; for v, the parameter b takes the place of a. In rectifier
/// and threshold, x' = x + √a·z, with independent standard normals z for u and v.
enum class Dual {
  rectifier,    ///< φ(x) = E_z[αx' + β|x'|].         f = α², β², a, b
  threshold,    ///< φ(x) = E_z[α + β·sign(x')].      f = α², β², a, b
  erf,          ///< φ(x) = erf(x/√a).                f = a, b
  gelu,         ///< φ(x) = x·Φ(x/√a).                f = a, b
  sine,         ///< φ(x) = a·sin(bx + δ).            f = a²/2, b², cos 2δ
  exponential,  ///< any φ with E = A·exp(h(p+q) + gc).   f = A, h, g
  polynomial,   ///< E = Σ_k b_k(p)·b_k(q)·c^k.       f = K, centre, then K + 1 rows of K/2 + 1:
                ///< the coefficients of b_k in powers of p − centre, k = 0 … K
  count
};

/// Number of entries in a block, and of entries in a group whose series are summed together.
inline constexpr std::int64_t dual_block = 64, dual_series_entries = 8;

struct DualLoops {
  /// Two functions of each entry of a block: p, q, c, first and second have dual_block elements.
  using Loop = void (*)(const double* f, const double* p, const double* q, const double* c,
                        double* first, double* second);
  /// E[φ(u)φ(v)] and E[φ'(u)φ'(v)], where φ' is 0 at a jump.
  Loop values[int(Dual::count)];
  /// ∂E/∂c and ∂E/∂p.
  Loop slopes[int(Dual::count)];
  /// ∂E'/∂c and ∂E'/∂p of E' = E[φ'(u)φ'(v)]; 0 where a derivative is infinite.
  Loop curvatures[int(Dual::count)];
  /// y[e] = Σ_k a[e][k]·b[e][k]·rho[e]^k over n terms, n a multiple of 8, for a group of entries e.
  void (*series)(const double* const* a, const double* const* b, const double* rho, double* y,
                 std::int64_t n);
};

}  // namespace ladon::kernels
