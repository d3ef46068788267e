#pragma once
// Conversion of weights to the names and layouts of other libraries, and back.

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/module.h"

namespace ladon {

/// One tensor of a model, with its name and layout in another library.
struct ForeignTensor {
  std::string own = {}, foreign = {};
  /// Conversions to the foreign layout, and from it; an empty function means no change.
  std::function<Tensor(const Tensor& own)> out = {};
  std::function<Tensor(const Tensor& foreign)> in = {};
  int axis = 0;  ///< Axis along which the foreign tensor concatenates `parts` tensors of the model.
  int part = 0, parts = 1;  ///< Index among these parts, which follow each other in the list.
};

/// heads_joined(): [heads, width, ..] → [heads·width, ..], the foreign layout of the weights of all
/// heads. heads_apart(heads) returns the inverse function.
Tensor heads_joined(const Tensor& x);
std::function<Tensor(const Tensor&)> heads_apart(std::int64_t heads);

/// The model's tensors, named and laid out as in the list.
StateDict to_foreign(const Module& model, const std::vector<ForeignTensor>& list);
/// Copies `state` into the model. Throws Error, and leaves the model unchanged, if a listed name is
/// missing or its tensor has a wrong shape, or if `state` has a name outside the list that
/// `passed_over` does not accept.
void from_foreign(
    Module& model, const std::vector<ForeignTensor>& list, const StateDict& state,
    const std::function<bool(const std::string&)>& passed_over = [](const std::string&) {
      return false;
    });

}  // namespace ladon
