#pragma once
// Exercises of lesson 8: the evidence from draws of the prior and from predictions, and the error
// of its estimate.

#include <algorithm>
#include <numbers>
#include <numeric>
#include <vector>

#include "exercise.h"

/// 1. Logarithm of the mean of one or more numbers, which are given by their logarithms. A
/// logarithm may be −∞ (a draw under which the data are impossible).
double log_mean_exp(const std::vector<double>& logarithms);
void check_log_mean_exp(decltype(log_mean_exp)* yours);

/// 2. ln N(y; 0, K + σ²·I), the log evidence of a Gaussian process with kernel K [N, N] for targets
/// y [N] with noise of variance σ²: the sum over i of ln p(y_i | y_1 … y_{i−1}).
double evidence_by_prediction(const ladon::Tensor& kernel, const ladon::Tensor& y, double noise);
void check_evidence_by_prediction(decltype(evidence_by_prediction)* yours);

/// Estimate of an evidence Z by S draws of the prior: Ẑ is the mean of their likelihoods.
struct EvidenceEstimate {
  double log_evidence = 0;  ///< ln Ẑ
  double error = 0;         ///< Standard error of ln Ẑ, to first order in the error of Ẑ.
  double effective = 0;     ///< Effective number of draws (Σ w)²/Σ w², with the likelihoods w.
};

/// 3. The estimate Ẑ with its error and effective number of draws, from the log likelihoods of
/// S ≥ 2 draws. The variance of the likelihoods has the divisor S − 1.
EvidenceEstimate estimate_evidence(const std::vector<double>& log_likelihoods);
void check_estimate_evidence(decltype(estimate_evidence)* yours);
