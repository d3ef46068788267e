#pragma once
// Weights under other names and in other layouts, for exchange with other libraries.

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/module.h"

namespace ladon {

/// One tensor of a model, with its name and layout elsewhere.
struct ForeignTensor {
  std::string own = {}, foreign = {};
  std::function<Tensor(const Tensor& own)> out = {};  ///< To the foreign layout; empty: the same.
  std::function<Tensor(const Tensor& foreign)> in = {};  ///< From it; empty: the same.
  int axis = 0;  ///< If parts > 1: the foreign tensor is that many own ones, concatenated here.
  int part = 0, parts = 1;  ///< Index among them. They follow each other in the list.
};

/// [heads, width, ..] → [heads·width, ..], the foreign layout of the weights of all heads, and
/// back.
Tensor heads_joined(const Tensor& x);
std::function<Tensor(const Tensor&)> heads_apart(std::int64_t heads);

/// The model's tensors, named and laid out as in the list.
StateDict to_foreign(const Module& model, const std::vector<ForeignTensor>& list);
/// Copies `state` into the model. Throws Error, and leaves the model unchanged, if a listed name is
/// missing or has another shape, or if `state` has a name outside the list that `passed_over` does
/// not accept.
void from_foreign(
    Module& model, const std::vector<ForeignTensor>& list, const StateDict& state,
    const std::function<bool(const std::string&)>& passed_over = [](const std::string&) {
      return false;
    });

}  // namespace ladon
