#pragma once
// Table of the operations that have two forms, a fast one and one composed of recorded operations
// (autograd/forms.h): one row per pair of forms.

#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon::test {

struct Pair {
  /// Where the library chooses between the two forms: for a value, or in the rule of a gradient.
  enum class Of { value, gradient };

  const char* name;  ///< Name that fast_or_composed() gets.
  Of of;
  std::vector<std::vector<Shape>> samples;     ///< Shapes of the inputs.
  TensorFunction apply;                        ///< The operation, on f64.
  std::vector<std::vector<Shape>> empty = {};  ///< Shapes without elements.
};

const std::vector<Pair>& pairs();

}  // namespace ladon::test
