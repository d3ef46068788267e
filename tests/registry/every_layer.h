#pragma once
// A row for every layer, and for every attention hook inside of one: how it is made, called and
// copied, what it computes, and whether it has a limit. registry_test.cpp holds the table against
// the headers.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladon/layers/layer.h"

namespace ladon::test {

/// Place of a layer's limit.
enum class Ends {
  in_a_limit,     ///< Of the row's input.
  behind_linear,  ///< Of what a Linear makes of it: the law that the derivation needs.
  in_a_refusal    ///< Nowhere: an Error that names the layer.
};

struct LayerRow {
  std::string name;  ///< Of the class.
  std::function<std::unique_ptr<Layer>(Generator&)> make;
  Tensor input;
  Ends limit;
  /// Call as users write it, layer(x) or layer(x, y), and the function behind it, of the row's
  /// input.
  std::function<Tensor(const Layer&)> call, forward;
  /// clone(layer); empty where the type has no copies.
  std::function<std::unique_ptr<Layer>(const Layer&)> copy;
  /// Moves the layer's value away, into one that then ends.
  std::function<void(Layer&)> move_from;
  /// The layer's output by its formula, in operations and in its parts. May be empty where a test
  /// suite of the layer's name, in tests/layers, has its values.
  std::function<Tensor(const Layer&)> formula;
};

const std::vector<LayerRow>& every_layer();

}  // namespace ladon::test
