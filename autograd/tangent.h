#pragma once
// Tangents: derivatives along a direction, which are propagated together with the values.
//
// A tensor that carries a tangent (Tensor::tangent) is a dual number. record() (record.h) computes
// the tangent of an operation's output from those of its inputs, by Tangent::push_forward. Forward
// mode (forward.h) derives its tangents from this class, so that neither the graph nor an operation
// depends on how they are computed. Without dual numbers, an operation pays only for a comparison
// with null.

#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

class Node;
class Tangent;
/// Tangents of an operation's inputs, one per input; null for an input without a tangent.
using Tangents = std::vector<std::shared_ptr<const Tangent>>;

/// A derivative along one direction, carried by a dual number. Nested calls of jvp have levels:
/// numbers that are higher for inner calls (forward.h). A dual number has one tangent per level
/// that it depends on, in a linked list with the highest level first. The value of a tangent may
/// itself be a dual number of the lower levels.
class Tangent {
 public:
  Tangent(Tensor derivative, std::uint64_t at, std::shared_ptr<const Tangent> next = {})
      : value(std::move(derivative)), level(at), below(std::move(next)) {}
  virtual ~Tangent() = default;

  /// The tangents of the node's output: one for each level of the inputs' tangents that is visible,
  /// which means below modes.tangents_below; null if no level is visible.
  virtual std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& inputs) const = 0;

  const Tensor value;
  const std::uint64_t level;
  const std::shared_ptr<const Tangent> below;  ///< Tangent of the next lower level, or null.
};

/// The tangent in the list that has the highest level below `level`; null if there is none.
const std::shared_ptr<const Tangent>& first_below(const std::shared_ptr<const Tangent>& tangent,
                                                  std::uint64_t level);
/// The tangent of x of the highest level that is visible now (modes.tangents_below); null if no
/// tangent of x is visible.
const std::shared_ptr<const Tangent>& visible(const Tensor& x);
/// Levels of vmap of x and of its visible tangents.
mapped::Levels levels_of(const Tensor& x);
/// Calls Tangent::push_forward of the first input that has a visible tangent; null if no input has
/// one.
std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& inputs);

}  // namespace ladon::detail
