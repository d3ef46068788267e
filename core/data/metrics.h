#pragma once
// Quality of predicted probabilities. Plain numbers: no gradients. Probabilities are floating [N,
// C] with rows that sum to 1, labels i64 [N] in [0, C). All functions compute in f64 and throw
// Error for other shapes, dtypes or labels, and where N or C is 0.

#include <cstdint>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::metrics {

/// Share of rows whose largest probability (the first, among equals) stands at the label.
double accuracy(const Tensor& probabilities, const Tensor& labels);

/// Mean of −ln p(label), in nats; +∞ where a label has probability 0.
double nll(const Tensor& probabilities, const Tensor& labels);

/// Mean over rows of Σ_c (p_c − 1{c = label})², in [0, 2]   (Brier 1950).
double brier(const Tensor& probabilities, const Tensor& labels);

/// Expected calibration error: Σ_bins (n_bin/N)·|accuracy − mean confidence|, where a row's
/// confidence is its largest probability and bin b of `bins` equal ones holds confidences in
/// (b/bins, (b+1)/bins]   (Guo et al. 2017). In [0, 1]. Throws Error if bins < 1.
double ece(const Tensor& probabilities, const Tensor& labels, std::int64_t bins = 15);

/// −Σ_c p_c ln p_c of each row, in nats, with 0·ln 0 = 0.
std::vector<double> predictive_entropy(const Tensor& probabilities);

/// Probability that a positive's score is above a negative's, ties counting half: the area under
/// the ROC curve. Out-of-distribution detection: auroc(entropies outside, entropies inside). Throws
/// Error if either list is empty or a score is NaN.
double auroc(const std::vector<double>& positives, const std::vector<double>& negatives);

}  // namespace ladon::metrics
