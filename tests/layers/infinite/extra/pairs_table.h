#pragma once
// Every fast form that stands beside a composed one: one row per pair.

#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon::test {

struct Pair {
  /// Place of a pair: in the computation of a value, or in the rule of its gradient.
  enum class Of { value, gradient };

  const char* name;  ///< As given to fast_or_composed.
  Of of;
  std::vector<std::vector<Shape>> samples;     ///< Shapes of the inputs.
  TensorFunction apply;                        ///< The operation, on f64.
  std::vector<std::vector<Shape>> empty = {};  ///< Shapes without elements.
};

const std::vector<Pair>& pairs();

}  // namespace ladon::test
