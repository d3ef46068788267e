#pragma once
// Joint predictions of the members of an ensemble (particles, draws of a sampler, networks of
// several seeds), and their disagreement. The argument `members` holds the probabilities of S
// members for N inputs (rows) and C classes, floating [S, N, C]: a stack of S tensors [N, C]. All
// functions compute in f64 and record no gradients. They throw Error for other shapes and dtypes,
// if S, N or C is 0, and for rows that are not probabilities, such as logits (metrics.h).
// disagreement() and variation_ratio() use only the position of the largest entry, and so accept
// all scores but NaN.
//
// The entropy of the mean prediction has two parts: the mean entropy of the members (noise of the
// data, which every member sees) and the mutual information of label and member (disagreement
// between members, which more data would settle).

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// The mean over members, f64 [N, C]: the ensemble's prediction.
Tensor ensemble_mean(const Tensor& members);

/// H(mean_s p_s) − mean_s H(p_s) of each row, in nats, with the entropy H and the probabilities p_s
/// of member s: the mutual information of label and member, in [0, ln min(S, C)] up to rounding
/// (Houlsby, Huszár, Ghahramani and Lengyel 2011, "BALD"). It is 0 where all members agree, and
/// serves as a score to detect inputs outside the training data (metrics.h, auroc).
std::vector<double> mutual_information(const Tensor& members);

/// Fraction of rows for which two members predict different labels, averaged over pairs of members
/// (Fort, Hu and Lakshminarayanan 2019). A member predicts its most probable label, the first among
/// equals. NaN if there is only one member.
double disagreement(const Tensor& members);

/// 1 − (votes for the label with most votes)/S of each row, in [0, 1 − 1/min(S, C)]; each member
/// votes for its most probable label (Freeman 1965).
std::vector<double> variation_ratio(const Tensor& members);

}  // namespace ladon::metrics
