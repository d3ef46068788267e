#include "16_copy_head/exercises/exercises.h"

using namespace ladon;

Tensor copy_strength(const Tensor& g, double scale, std::int64_t length) {
  const double others = static_cast<double>(length - 1);
  const Tensor a = sigmoid(scale * g - std::log(others));
  return a - (1.0 - a) / others;
}
