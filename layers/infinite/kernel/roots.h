#pragma once
// Coordinates of tokens: k = Φ·Φᵀ over the tokens of all inputs.
//
// A layer that averages over Gaussian draws needs for every pair of inputs draws with the right
// covariance. If each pair drew its own (from a root of its own 2T × 2T kernel), what input n drew
// would depend on whom it was paired with, and the Gram matrix would be no Gram matrix: its smallest
// eigenvalue was −4% of the mean diagonal at 60 inputs. With one root for all, draws in its coordinates
// serve every input, and each draw adds a positive semi-definite matrix.
//
// The root is a pivoted Cholesky factor over tokens of some inputs, the landmarks (Williams and Seeger
// 2001, "Using the Nyström method to speed up kernel machines"). What no landmark explains of an input's
// own kernel, E = k(n, n) − Φ_n·Φ_nᵀ, the input draws for itself, as in FITC (Snelson and Ghahramani
// 2006, "Sparse Gaussian processes using pseudo-inputs"): so every input's own law is exact, and only
// the covariance of two inputs' remainders is left out. What an input draws is named by the input as
// the network gets it (Kernel::names1), wherever it stands and whatever the hyper-parameters are: so
// kernels are continuous in these while the pivots stay (Limit::with_pivots). A changed input draws anew.

#include <cstdint>
#include <limits>

#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon::infinite {

/// A rank that is never reached.
inline constexpr std::int64_t all_coordinates = std::numeric_limits<std::int64_t>::max();

/// Of the kernel that a layer which draws sees, the roots of both blocks' tokens, by the landmarks of
/// its call, in at most `rank` coordinates. Throws Error, naming `layer`, where the call has none, and
/// where the kernel was not begun by input_kernel() of that call, so that its inputs have no names.
struct Roots {
  Root one, two;
};
Roots common_roots(const char* layer, const Kernel& seen, std::int64_t rank);

/// L with x = L·Lᵀ for positive semi-definite x [.., T, T], lower triangular: a column whose pivot is
/// below 1e-12 of the largest variance in `cov` [.., T, T], lost in rounding, is zero. Differentiable
/// once by x, on the columns that are not.
Tensor lower_root(const Tensor& x, const Tensor& cov);

/// The same of one x [n, n], in place; `scale` is that variance.
void factorize(double* x, std::int64_t n, double scale);

}  // namespace ladon::infinite
