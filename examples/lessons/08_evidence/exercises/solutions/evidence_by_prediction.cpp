#include "08_evidence/exercises/exercises.h"

using namespace ladon;

double evidence_by_prediction(const Tensor& kernel, const Tensor& y, double noise) {
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(0); ++i) {
    double mean = 0, variance = at(kernel, {i, i}).item() + noise;
    if (i > 0) {
      const Slice before{.stop = i};
      const Tensor k = at(kernel, {before, i});
      const Tensor a = solve(at(kernel, {before, before}) + noise * eye(i, f64), k);
      mean = dot(a, slice(y, 0, before)).item();
      variance -= dot(a, k).item();
    }
    const double error = at(y, {i}).item() - mean;
    sum -= 0.5 * (error * error / variance + std::log(2 * std::numbers::pi * variance));
  }
  return sum;
}
