#pragma once
// Joint predictions of the members of an ensemble, and their disagreement: particles, draws of a
// sampler, networks of several seeds. Members' probabilities are floating [S, N, C] (or a list of
// [N, C] stacked so). No gradients; in f64. All throw Error for other shapes and dtypes, where S, N
// or C is 0, and for rows that are no probabilities, as logits (metrics.h); disagreement() and
// variation_ratio() only ask where the largest stands, and take any scores but NaN.
//
// The uncertainty of the mean prediction is of two kinds: its entropy is the members' mean entropy
// (noise of the data, which every member sees) plus the mutual information of the label and the
// member (what the members do not agree about, and more data would settle).

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// The mean over members, f64 [N, C]: the ensemble's prediction.
Tensor ensemble_mean(const Tensor& members);

/// H(mean_s p_s) − mean_s H(p_s) of each row, in nats: the mutual information of label and member,
/// in [0, ln min(S, C)] up to rounding (Houlsby, Huszár, Ghahramani and Lengyel 2011, "BALD"). 0
/// where all members agree; a score for what lies outside the training data (metrics.h, auroc).
std::vector<double> mutual_information(const Tensor& members);

/// The mean over pairs of members of the share of rows where their largest probabilities (the
/// first, among equals) stand at different labels (Fort, Hu and Lakshminarayanan 2019). NaN for one
/// member.
double disagreement(const Tensor& members);

/// 1 − (votes for the label with most)/S of each row, a member voting for its largest probability,
/// in [0, 1 − 1/min(S, C)] (Freeman 1965).
std::vector<double> variation_ratio(const Tensor& members);

}  // namespace ladon::metrics
