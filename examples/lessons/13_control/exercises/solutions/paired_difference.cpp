#include "13_control/exercises/exercises.h"

using namespace ladon;

Measured paired_difference(const std::vector<double>& arm, const std::vector<double>& base) {
  const auto n = static_cast<double>(arm.size());
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < arm.size(); ++i) mean += (arm[i] - base[i]) / n;
  for (std::size_t i = 0; i < arm.size(); ++i) squares += std::pow(arm[i] - base[i] - mean, 2);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}
