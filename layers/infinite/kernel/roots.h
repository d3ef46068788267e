#pragma once
// Coordinates Φ of tokens: the kernel between the tokens of all inputs is k = Φ·Φᵀ. Such a Φ is
// called a root of k.
//
// A layer that averages over Gaussian draws needs draws with the right covariance for every pair of
// inputs. If each pair drew separately (from a root of its 2T × 2T kernel), the draws of an input
// would depend on the other input of the pair, and the result would not be a Gram matrix: its
// smallest eigenvalue was −4% of the mean diagonal at 60 inputs. With one root for all inputs,
// draws in its coordinates serve every input, and each draw adds a positive semi-definite matrix.
//
// The root is a pivoted Cholesky factor over tokens of some inputs, the landmarks (Williams and
// Seeger 2001, "Using the Nyström method to speed up kernel machines"). The part of an input's
// kernel that no landmark explains, E = k(n, n) − Φ_n·Φ_nᵀ for input n, is drawn for this input
// alone, as in FITC (Snelson and Ghahramani 2006, "Sparse Gaussian processes using pseudo-inputs").
// Then the distribution of every single input is exact, and only the covariance of two inputs'
// unexplained parts is omitted. The random numbers for E are keyed by a hash of the network's input
// (Root::names), and depend neither on its row nor on hyper-parameters: so kernels are continuous
// in the hyper-parameters as long as the pivots stay the same (Limit::with_pivots). A changed input
// gets other random numbers.
//
// Tokens are compared by correlations: a pivot is the token with the largest unexplained *share* of
// its variance. If variances were compared, one input with large numbers would take all
// coordinates, and the much smaller variances of the other inputs would count as rounding errors.
// Masked tokens have rows and columns of zeros: they are never pivots, and have no coordinates.

#include <cstdint>
#include <limits>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// Rank that stands for an unlimited number of coordinates.
inline constexpr std::int64_t all_coordinates = std::numeric_limits<std::int64_t>::max();

/// Cholesky factor of the kernel over a few tokens, the pivots. It gives the coordinates of every
/// other token (coordinates()).
struct RootFactor {
  std::vector<std::int64_t> pivots;  ///< Indices of the pivots among all tokens of the landmarks.
  Tensor inverse;                    ///< L⁻ᵀ of k(pivots, pivots) = L·Lᵀ: [R, R]
};

/// Pivots of each Cholesky factor that a model's limit needs: one factor per input of each step
/// that averages over draws, in the order of the steps.
using Pivots = std::vector<std::vector<std::int64_t>>;

/// Factor of a kernel k of landmarks, [N, N, T, T]. Its pivots are the tokens `given`. If `given`
/// is null, they are at most `rank` tokens, each chosen as the one with the largest unexplained
/// share of its variance. A token counts as explained if that share is below 1e-12, or if its
/// variance is 0. Throws Error for a kernel of another shape or dtype, and unless `given` are the
/// indices of different tokens of the landmarks.
RootFactor root_factor(const Tensor& k, std::int64_t rank,
                       const std::vector<std::int64_t>* given = nullptr);
/// Φ [N, T, R] of inputs whose kernel with the landmarks is k [N, landmarks, T, T]. Throws Error
/// for a kernel or a factor of another shape or dtype, and for pivots that root_factor() refuses.
Tensor coordinates(const Tensor& k, const RootFactor& factor);
/// Root Ψ [N, T, T] of the part of k(n, n) (`cov`) that the coordinates Φ (`common`) leave
/// unexplained: Ψ·Ψᵀ = cov − Φ·Φᵀ.
Tensor own_root(const Tensor& cov, const Tensor& common);

/// Lower triangular L with x = L·Lᵀ, for positive semi-definite x [.., T, T]. A column is zero if
/// its pivot is lost in rounding, that is, below 1e-12 of the token's variance, which is on the
/// diagonal of `cov` [.., T, T]. Differentiable once with respect to x, on the nonzero columns.
Tensor lower_root(const Tensor& x, const Tensor& cov);

/// lower_root() of one x [n, n], in place.
void factorize(double* x, std::int64_t n, const double* cov);

}  // namespace ladon::infinite
