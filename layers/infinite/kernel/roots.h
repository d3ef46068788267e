#pragma once
// Coordinates of tokens: k = Φ·Φᵀ over the tokens of all inputs.
//
// A layer that averages over Gaussian draws needs for every pair of inputs draws with the right
// covariance. If each pair drew its own (from a root of its own 2T × 2T kernel), what input n drew
// would depend on whom it was paired with, and the Gram matrix would be no Gram matrix: its
// smallest eigenvalue was −4% of the mean diagonal at 60 inputs. With one root for all, draws in
// its coordinates serve every input, and each draw adds a positive semi-definite matrix.
//
// The root is a pivoted Cholesky factor over tokens of some inputs, the landmarks (Williams and
// Seeger 2001, "Using the Nyström method to speed up kernel machines"). What no landmark explains
// of an input's own kernel, E = k(n, n) − Φ_n·Φ_nᵀ, the input draws for itself, as in FITC (Snelson
// and Ghahramani 2006, "Sparse Gaussian processes using pseudo-inputs"): so every input's own law
// is exact, and only the covariance of two inputs' remainders is left out. What an input draws is
// named by the input as the network gets it (Root::names), wherever it stands and whatever the
// hyper-parameters are: so kernels are continuous in these while the pivots stay
// (Limit::with_pivots). A changed input draws anew.
//
// Tokens are compared by correlations: a pivot is the token with the largest *share* of its own
// variance unexplained. By covariances one input with large numbers would take all coordinates, and
// the variances of the others, small beside it, would count as rounding. Masked tokens have rows
// and columns of zeros: they are never pivots, and have no coordinates.

#include <cstdint>
#include <limits>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// A rank that is never reached.
inline constexpr std::int64_t all_coordinates = std::numeric_limits<std::int64_t>::max();

/// A triangular root of a kernel over a few tokens, from which every other token gets coordinates.
struct RootFactor {
  std::vector<std::int64_t> pivots;  ///< Tokens of the landmarks, numbered over all of them.
  Tensor inverse;                    ///< L⁻ᵀ of k(pivots, pivots) = L·Lᵀ: [R, R]
};

/// Pivots of each factor of a model, in the order of its draws.
using Pivots = std::vector<std::vector<std::int64_t>>;

/// The factor of a kernel of landmarks [N, N, T, T], in at most `rank` coordinates: those of the
/// tokens `given`, or (null) always that with the largest share of its variance unexplained. A
/// token is explained once that share is below 1e-12; one of variance 0 always is.
RootFactor root_factor(const Tensor& k, std::int64_t rank,
                       const std::vector<std::int64_t>* given = nullptr);
/// Φ [N, T, R] of inputs whose kernel with the landmarks is k [N, landmarks, T, T].
Tensor coordinates(const Tensor& k, const RootFactor& factor);
/// Ψ [N, T, T] of inputs with cov [N, T, T], whose coordinates are `common`.
Tensor own_root(const Tensor& cov, const Tensor& common);

/// L with x = L·Lᵀ for positive semi-definite x [.., T, T], lower triangular: a column whose pivot
/// is below 1e-12 of the token's variance in `cov` [.., T, T], lost in rounding, is zero.
/// Differentiable once by x, on the columns that are not.
Tensor lower_root(const Tensor& x, const Tensor& cov);

/// Lower root of one x [n, n] in place, as lower_root(x, cov).
void factorize(double* x, std::int64_t n, const double* cov);

}  // namespace ladon::infinite
