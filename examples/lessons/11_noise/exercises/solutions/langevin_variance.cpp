#include "11_noise/exercises/exercises.h"

using namespace ladon;

double langevin_variance(double precision, double step, double batch_variance) {
  // v = (1 − step·precision)²·v + 2·step + step²·batch_variance
  if (step * precision >= 2) return std::numeric_limits<double>::infinity();
  return (1 + step * batch_variance / 2) / (precision * (1 - step * precision / 2));
}
