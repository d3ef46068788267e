#include "08_evidence/exercises/exercises.h"

using namespace ladon;

double log_mean_exp(const std::vector<double>& logarithms) {
  const double largest = *std::max_element(logarithms.begin(), logarithms.end());
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (const double logarithm : logarithms) sum += std::exp(logarithm - largest);
  return largest + std::log(sum / static_cast<double>(logarithms.size()));
}
