#pragma once
// Quality of predicted probabilities, as plain numbers without gradients. Probabilities are
// floating [N, C] for N inputs (rows) and C classes, labels i64 [N] in [0, C). All functions
// compute in f64. They throw Error for other shapes, dtypes or labels, if N or C is 0, and for rows
// that are not probabilities, such as logits: an entry outside [0, 1 + 1e-6], or a sum that differs
// from 1 by more than 1e-3. accuracy() and agreement() use only the position of the largest entry,
// and so accept all scores but NaN.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// Fraction of rows whose largest probability (the first, among equals) is at the label.
double accuracy(const Tensor& probabilities, const Tensor& labels);

/// Mean of −ln p(label), in nats; +∞ where a label has probability 0.
double nll(const Tensor& probabilities, const Tensor& labels);

/// Mean over rows of Σ_c (p_c − 1{c = label})², in [0, 2]   (Brier 1950).
double brier(const Tensor& probabilities, const Tensor& labels);

/// Expected calibration error, in [0, 1]: the sum over bins of (rows in the bin/N)·|accuracy − mean
/// confidence| (Guo et al. 2017). A row's confidence is its largest probability; bins are equally
/// wide, and bin b holds the rows with confidence in (b/bins, (b+1)/bins]. Throws Error unless
/// `bins` is 1 to 1,000,000.
double ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins = 15);

/// Adaptive ECE: it differs from ece() in that rows are sorted by confidence and each bin holds
/// N/bins of them, up to rounding, so that no bin is nearly empty (Nixon, Dusenberry, Zhang, Jerfel
/// and Tran 2019). Rows of equal confidence all count with the mean accuracy of these rows, so
/// their order does not matter. Throws Error if bins < 1.
double adaptive_ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins = 15);

/// Entropy −Σ_c p_c ln p_c of each row, in nats, with 0·ln 0 = 0.
std::vector<double> predictive_entropy(const Tensor& probabilities);

/// Area under the ROC curve: the probability that the score of a random positive is above that of a
/// random negative, where a tie counts half. To rate out-of-distribution detection, pass the
/// entropies of inputs outside the training distribution as positives and those of inputs inside as
/// negatives. Throws Error if either list is empty or a score is NaN.
double auroc(const std::vector<double>& positives, const std::vector<double>& negatives);

/// Average precision, the area under the precision–recall curve without interpolation:
/// Σ_k (R_k − R_{k−1})·P_k over the distinct scores in descending order, with precision P_k and
/// recall R_k if inputs with the k-th score and above are classified as positive. (scikit-learn's
/// average_precision_score.) For an uninformative score it is the fraction of positives, not ½.
/// Throws Error if either list is empty or a score is NaN.
double aupr(const std::vector<double>& positives, const std::vector<double>& negatives);

/// False positive rate at a true positive rate of 95%: the fraction of negatives whose score is at
/// or above the largest threshold that at least 95% of the positives reach. (Liang, Li and Srikant
/// 2018, where inputs inside the training distribution are the positives: pass their negated
/// entropies as `positives`, and those of inputs outside as `negatives`.) Throws Error if either
/// list is empty or a score is NaN.
double fpr95(const std::vector<double>& positives, const std::vector<double>& negatives);

// --- comparison with reference probabilities [N, C], exact or from long sampling ---
// (Izmailov, Vikram, Hoffman and Wilson 2021, "What are Bayesian neural network posteriors really
// like?")

/// Fraction of rows where both tensors have their largest probability (the first, among equals) at
/// the same label.
double agreement(const Tensor& probabilities, const Tensor& reference);

/// Total variation distance ½ Σ_c |p_c − q_c| to the reference q, averaged over rows; in [0, 1].
double total_variation(const Tensor& probabilities, const Tensor& reference);

}  // namespace ladon::metrics
