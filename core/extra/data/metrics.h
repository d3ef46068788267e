#pragma once
// Quality of predicted probabilities. Plain numbers: no gradients. Probabilities are floating [N,
// C], labels i64 [N] in [0, C). All functions compute in f64 and throw Error for other shapes,
// dtypes or labels, if N or C is 0, and for rows that are not probabilities, such as logits: an
// entry outside [0, 1 + 1e-6], or a sum that differs from 1 by more than 1e-3. accuracy() and
// agreement() use only the position of the largest entry, and accept all scores but NaN.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// Share of rows whose largest probability (the first, among equals) is that of the label.
double accuracy(const Tensor& probabilities, const Tensor& labels);

/// Mean of −ln p(label), in nats; +∞ where a label has probability 0.
double nll(const Tensor& probabilities, const Tensor& labels);

/// Mean over rows of Σ_c (p_c − 1{c = label})², in [0, 2]   (Brier 1950).
double brier(const Tensor& probabilities, const Tensor& labels);

/// Expected calibration error: Σ_bins (n_bin/N)·|accuracy − mean confidence|, where a row's
/// confidence is its largest probability and bin b of `bins` equally wide ones holds confidences in
/// (b/bins, (b+1)/bins]   (Guo et al. 2017). In [0, 1]. Throws Error unless there are 1 to
/// 1,000,000 bins.
double ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins = 15);

/// Adaptive ECE: ece() with bins of N/bins rows each, up to rounding, in order of confidence, so
/// that no bin is nearly empty (Nixon, Dusenberry, Zhang, Jerfel and Tran 2019). Rows of equal
/// confidence share their mean correctness: their order does not matter. Throws Error if bins < 1.
double adaptive_ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins = 15);

/// −Σ_c p_c ln p_c of each row, in nats, with 0·ln 0 = 0.
std::vector<double> predictive_entropy(const Tensor& probabilities);

/// Probability that a positive's score is above a negative's, ties counting half: the area under
/// the ROC curve. Out-of-distribution detection: auroc(entropies outside, entropies inside). Throws
/// Error if either list is empty or a score is NaN.
double auroc(const std::vector<double>& positives, const std::vector<double>& negatives);

/// Average precision, the area under the precision–recall curve without interpolation:
/// Σ_k (R_k − R_{k−1})·P_k over the distinct scores in descending order, with precision P_k and
/// recall R_k if the k-th score and all above are called positive. (scikit-learn's
/// average_precision_score.) An uninformative score gets the share of positives, not ½. Errors as
/// auroc.
double aupr(const std::vector<double>& positives, const std::vector<double>& negatives);

/// Share of negatives at or above the largest threshold that 95% of the positives reach: the false
/// positive rate at 95% true positives. (Liang, Li and Srikant 2018, with inputs inside the
/// training data as positives: fpr95(−entropies inside, −entropies outside).) Errors as auroc.
double fpr95(const std::vector<double>& positives, const std::vector<double>& negatives);

// --- comparison with reference probabilities [N, C], exact or from long sampling ---
// (Izmailov, Vikram, Hoffman and Wilson 2021, "What are Bayesian neural network posteriors really
// like?")

/// Share of rows where both have their largest probability (the first, among equals) at one label.
double agreement(const Tensor& probabilities, const Tensor& reference);

/// Mean over rows of ½ Σ_c |p_c − q_c|, in [0, 1].
double total_variation(const Tensor& probabilities, const Tensor& reference);

}  // namespace ladon::metrics
