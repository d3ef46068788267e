#pragma once
// Weights that travel under other names and in other layouts.

#include <functional>
#include <string>
#include <vector>

#include "ladon/layers/module.h"

namespace ladon {

/// One tensor of a model, and how it is called and laid out elsewhere.
struct ForeignTensor {
  std::string own = {}, foreign = {};
  std::function<Tensor(const Tensor& own)> out = {};  ///< To the foreign layout; empty: the same.
  std::function<Tensor(const Tensor& foreign)> in = {};  ///< And back.
  int axis = 0;  ///< If parts > 1: the foreign tensor is that many own ones, side by side …
  int part = 0, parts = 1;  ///< … of which this is one. They follow each other in the list.
};

/// [heads, width, ..] → [heads·width, ..], as weights of all heads stand elsewhere, and back.
Tensor heads_joined(const Tensor& x);
std::function<Tensor(const Tensor&)> heads_apart(std::int64_t heads);

/// The model's tensors as the list says.
StateDict to_foreign(const Module& model, const std::vector<ForeignTensor>& list);
/// Copies `state` into the model. Throws Error naming the first foreign name that is missing, has
/// another shape, or is in no entry unless `passed_over` says so; the model then stays as it was.
void from_foreign(
    Module& model, const std::vector<ForeignTensor>& list, const StateDict& state,
    const std::function<bool(const std::string&)>& passed_over = [](const std::string&) {
      return false;
    });

}  // namespace ladon
