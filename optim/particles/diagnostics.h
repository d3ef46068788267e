#pragma once
// Diagnostics of the diversity of particles or of their outputs.

#include "ladon/core/tensor.h"

namespace ladon {

/// Mean, smallest and largest value over all pairs of particles. All three are NaN if there is no
/// pair.
struct PairSpread {
  double mean, min, max;
};

/// Euclidean distances between the rows of Θ [M, D], over pairs i < j.
PairSpread pairwise_distance(const Tensor& theta);
/// Cosines θ_i·θ_j/(‖θ_i‖‖θ_j‖) over pairs i < j; 0 where a row is zero.
PairSpread pairwise_cosine(const Tensor& theta);

/// Mean, smallest and largest element above the diagonal of a matrix [M, M], such as a matrix of
/// similarities between pairs (similarity.h). Throws Error for other shapes.
PairSpread off_diagonal(const Tensor& matrix);

/// Redundancy of attention maps A [B, H, Tq, Tk]: the cosine between the rows A[b, h, t, :] and
/// A[b, g, t, :], averaged over pairs of heads h < g, examples b and queries t. It is 1 if all
/// heads attend in the same way (also if all are uniform), and 0 if heads attend to disjoint keys.
/// Masked keys have weight 0 and so do not contribute. Queries excluded by `query_mask` (bool [B,
/// Tq], true = token) and queries whose attention weights are all 0 are left out of the average.
/// NaN if there is one head or no query is left. Follows the token-based comparison of heads of
/// Bian et al., "On Attention Redundancy", NAACL 2021, but with the cosine, because it is also
/// defined for constant rows.
double map_redundancy(const Tensor& maps, const Tensor& query_mask = {});

}  // namespace ladon
