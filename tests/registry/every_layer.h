#pragma once
// A row for every layer, and for every attention hook (in a layer that uses it): functions that
// make, call and copy the layer, its formula, and whether it has an infinite-width limit.
// registry_test.cpp checks that no layer of the headers is missing.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon::test {

/// Whether a layer has an infinite-width limit.
enum class Ends {
  in_a_limit,     ///< It has one on the row's input.
  behind_linear,  ///< It has one after a Linear, whose outputs are Gaussian.
  in_a_refusal    ///< It has none: the derivation throws Error.
};

struct LayerRow {
  std::string name;  ///< Name of the class.
  std::function<std::unique_ptr<Layer>(Generator&)> make;
  Tensor input;
  Ends limit;
  /// The call as users write it, layer(x) or layer(x, y), and the member function that it calls,
  /// both on the row's input.
  std::function<Tensor(const Layer&)> call, forward;
  /// Copies the layer by clone(layer); empty if the type cannot be copied.
  std::function<std::unique_ptr<Layer>(const Layer&)> copy;
  /// Moves the layer into a temporary, which is then destroyed.
  std::function<void(Layer&)> move_from;
  /// The layer's output by its formula, from tensor operations and the layer's parts. May be empty
  /// if a test suite in tests/layers with the layer's name checks its values.
  std::function<Tensor(const Layer&)> formula;
};

const std::vector<LayerRow>& every_layer();

}  // namespace ladon::test
