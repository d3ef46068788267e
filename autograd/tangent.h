#pragma once
// Tangents: derivatives along a direction, which travel with values.
//
// A tensor may carry a tangent (Tensor::tangent), and is a dual number then. record() (record.h)
// asks the tangents of an operation's inputs for that of its output. Forward mode (forward.h)
// derives its tangents from this class, so that neither the graph nor an operation depends on how
// they are computed. Without a dual number nothing here costs more than a comparison with null.

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

/// A derivative along one direction, carried by a dual number: one per nested call of jvp that it
/// depends on, the innermost first. The value may itself be a dual number of the lower levels.
class Tangent {
 public:
  Tangent(Tensor derivative, std::uint64_t at, std::shared_ptr<const Tangent> next = {})
      : value(std::move(derivative)), level(at), below(std::move(next)) {}
  virtual ~Tangent() = default;

  /// The tangents of the node's output, one for each visible level of the inputs; null if there is
  /// none.
  virtual std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& inputs) const = 0;

  const Tensor value;
  const std::uint64_t level;
  const std::shared_ptr<const Tangent> below;  ///< Of the next lower level; null: none.
};

/// The tangent of the highest level below `level`; null if there is none.
const std::shared_ptr<const Tangent>& first_below(const std::shared_ptr<const Tangent>& tangent,
                                                  std::uint64_t level);
/// The tangent of the highest level visible at present (modes.tangents_below); null if none is.
const std::shared_ptr<const Tangent>& visible(const Tensor& x);
/// Levels (of vmap) of x and of its visible tangents.
mapped::Levels levels_of(const Tensor& x);
/// Tangent::push_forward of the first input that has a visible tangent; null if none has.
std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& inputs);

}  // namespace ladon::detail
