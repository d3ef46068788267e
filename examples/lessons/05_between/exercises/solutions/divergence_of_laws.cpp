#include "05_between/exercises/exercises.h"

using namespace ladon;

double divergence_of_laws(const infinite::ScaleMixture& p, const infinite::ScaleMixture& q) {
  const double step = 0.02;  // a fifth of the smallest standard deviation
  double sum = 0;
  for (double y = step / 2; p.density(y) > 1e-16; y += step)
    sum += p.density(y) * std::log(p.density(y) / std::max(q.density(y), 1e-300));
  return 2 * step * sum;  // the factor 2 counts both signs of y
}
