#include "03_one_head/exercises/exercises.h"

using namespace ladon;

Measured kurtosis_of_layers(const Tensor& outputs) {
  const Tensor squares = square(outputs);
  const Tensor second = mean(squares, 1), fourth = mean(square(squares), 1);  // [layers]
  const auto n = static_cast<double>(outputs.size(0));
  const Tensor rest2 = (sum(second) - second) / (n - 1), rest4 = (sum(fourth) - fourth) / (n - 1);
  const Tensor without = rest4 / square(rest2) - 3;  // [layers]: κ_i
  const double spread = sum(square(without - mean(without))).item();
  return {(mean(fourth) / square(mean(second)) - 3).item(), std::sqrt((n - 1) / n * spread)};
}
