#include "08_evidence/exercises/exercises.h"

using namespace ladon;

EvidenceEstimate estimate_evidence(const std::vector<double>& log_likelihoods) {
  const auto draws = static_cast<double>(log_likelihoods.size());
  const double largest = *std::max_element(log_likelihoods.begin(), log_likelihoods.end());
  double sum = 0, squares = 0;  // sums of w/e^largest and its square
  for (const double l : log_likelihoods) {
    sum += std::exp(l - largest);
    squares += std::exp(2 * (l - largest));
  }
  const double effective = sum * sum / squares;
  // Var Ẑ/Z² = (Σ w²/S − w̄²)/w̄²/(S − 1), and Σ w² = S²·w̄²/effective.
  const double error = std::sqrt(std::max(0.0, (draws / effective - 1) / (draws - 1)));
  return {largest + std::log(sum / draws), error, effective};
}
