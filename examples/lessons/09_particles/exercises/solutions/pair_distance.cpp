#include "09_particles/exercises/exercises.h"

using namespace ladon;

double pair_distance(const std::function<double(double)>& score, double alpha, double h2) {
  const auto force = [&](double a) {  // 2·φ(a), outwards
    const double k = std::exp(-2 * a * a / h2);
    return (1 - k) * score(a) + alpha * k * 2 * a / h2;
  };
  double low = 0, high = 1;
  while (force(high) > 0) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (force(middle) > 0 ? low : high) = middle;
  }
  return 2 * low;
}
