#pragma once
// Observer of recorded operations: the interface that the profiler (profile.h) implements.

#include <memory>
#include <string>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

class Node;

/// Base class of objects that are called for every operation recorded on their thread, for the
/// layers that call operations, and for the gradients of operations. An observer must not change
/// what it is shown. Without an observer, an operation pays only for a comparison with null.
class Observer {
 public:
  /// The newest observer that is alive on this thread; null if there is none.
  static Observer* current() { return modes.watchers.observer; }

  virtual void observe(const Node& node, const Tensor& result) = 0;
  /// Called when the call of a layer begins and ends; `depth` counts the layer calls around it, and
  /// `module` is the path of the layer.
  virtual void enter(int depth, std::vector<std::string> module) = 0;
  virtual void leave(int depth) = 0;
  /// Called before the gradient of `node` is computed; the returned object is destroyed when the
  /// computation ends. The observer itself may be destroyed earlier.
  virtual std::shared_ptr<void> during_gradient(const Node& node) = 0;

 protected:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
  ~Observer() = default;
};

}  // namespace ladon::detail
