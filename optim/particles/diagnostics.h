#pragma once
// Measures of how much particles, or their outputs, differ.

#include "ladon/core/tensor.h"

namespace ladon {

/// Mean, smallest and largest value over pairs. All three are NaN if there is no pair.
struct PairSpread {
  double mean, min, max;
};

/// Euclidean distances between the rows of Θ [M, D], over pairs i < j.
PairSpread pairwise_distance(const Tensor& theta);
/// Cosines θ_i·θ_j/(‖θ_i‖‖θ_j‖) over pairs i < j; 0 where a row is zero.
PairSpread pairwise_cosine(const Tensor& theta);

/// The entries above the diagonal of [M, M], such as a matrix of similarities between pairs
/// (similarity.h). Throws Error for other shapes.
PairSpread off_diagonal(const Tensor& matrix);

/// Redundancy of attention maps [B, H, Tq, Tk]: the cosine between the rows A_h[b, t, :] and A_g[b,
/// t, :], averaged over pairs of heads h < g, examples b and queries t. 1: all heads attend alike
/// (also when all are uniform); 0: to disjoint keys. Masked keys have weight 0 and so do not count.
/// Queries excluded by `query_mask` (bool [B, Tq], true = token), and those whose attention is all
/// 0, do not count either. NaN with one head or if no query counts. Follows the token-based
/// comparison of heads of Bian et al., "On Attention Redundancy", NAACL 2021; uses the cosine
/// because it is defined for constant rows too.
double map_redundancy(const Tensor& maps, const Tensor& query_mask = {});

}  // namespace ladon
