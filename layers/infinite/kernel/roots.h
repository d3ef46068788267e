#pragma once
// Coordinates of tokens: k = Φ·Φᵀ over the tokens of all inputs.
//
// A layer that averages over Gaussian draws needs draws with the right covariance for every pair of
// inputs. If each pair drew separately (from a root of its 2T × 2T kernel), the draws of input n
// would depend on the other input, and the result would not be a Gram matrix: its smallest
// eigenvalue was −4% of the mean diagonal at 60 inputs. With one root for all, draws in its
// coordinates serve every input, and each draw adds a positive semi-definite matrix.
//
// The root is a pivoted Cholesky factor over tokens of some inputs, the landmarks (Williams and
// Seeger 2001, "Using the Nyström method to speed up kernel machines"). The part of an input's
// kernel that no landmark explains, E = k(n, n) − Φ_n·Φ_nᵀ, is drawn for this input alone, as in
// FITC (Snelson and Ghahramani 2006, "Sparse Gaussian processes using pseudo-inputs"): so the
// distribution of every single input is exact, and only the covariance of two inputs' remainders is
// omitted. These draws are keyed by the input as the network gets it (Root::names), independent of
// its row and of the hyper-parameters: so kernels are continuous in these while the pivots stay
// (Limit::with_pivots). A changed input draws anew.
//
// Tokens are compared by correlations: a pivot is the token with the largest unexplained *share* of
// its variance. With covariances, one input with large numbers would take all coordinates, and the
// much smaller variances of the others would count as rounding. Masked tokens have rows
// and columns of zeros: they are never pivots, and have no coordinates.

#include <cstdint>
#include <limits>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// A rank that is never reached: no limit on coordinates.
inline constexpr std::int64_t all_coordinates = std::numeric_limits<std::int64_t>::max();

/// A triangular root of a kernel over a few tokens, which gives coordinates of every other token.
struct RootFactor {
  std::vector<std::int64_t> pivots;  ///< Indices of the pivots among all tokens of the landmarks.
  Tensor inverse;                    ///< L⁻ᵀ of k(pivots, pivots) = L·Lᵀ: [R, R]
};

/// Pivots of each factor of a model, in the order of its draws.
using Pivots = std::vector<std::vector<std::int64_t>>;

/// The factor of a kernel of landmarks [N, N, T, T], with at most `rank` pivots: the tokens
/// `given`, or (null) repeatedly the token with the largest unexplained share of its variance. A
/// token is explained once that share is below 1e-12, or if its variance is 0.
RootFactor root_factor(const Tensor& k, std::int64_t rank,
                       const std::vector<std::int64_t>* given = nullptr);
/// Φ [N, T, R] of inputs whose kernel with the landmarks is k [N, landmarks, T, T].
Tensor coordinates(const Tensor& k, const RootFactor& factor);
/// Root Ψ [N, T, T] of what the coordinates Φ (`common`) leave unexplained: Ψ·Ψᵀ = cov − Φ·Φᵀ.
Tensor own_root(const Tensor& cov, const Tensor& common);

/// L with x = L·Lᵀ for positive semi-definite x [.., T, T], lower triangular: a column whose pivot
/// is below 1e-12 of the token's variance in `cov` [.., T, T], lost in rounding, is zero.
/// Differentiable once with respect to x, on the nonzero columns.
Tensor lower_root(const Tensor& x, const Tensor& cov);

/// Lower root of one x [n, n] in place, as lower_root(x, cov).
void factorize(double* x, std::int64_t n, const double* cov);

}  // namespace ladon::infinite
