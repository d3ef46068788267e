#pragma once
// Observer of recorded operations: the interface that the profiler (profile.h) implements.

#include <memory>
#include <string>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

class Node;

/// Sees the operations that are recorded on its thread, the layers that call them, and their
/// gradients. It changes nothing of what it sees. Where none is alive, an operation costs no more
/// than a comparison with null.
class Observer {
 public:
  /// The observer of this thread, the youngest that lives; null if there is none.
  static Observer* current() { return modes.watchers.observer; }

  virtual void observe(const Node& node, const Tensor& result) = 0;
  /// A layer is called inside of `depth` others; its call ends.
  virtual void enter(int depth, std::vector<std::string> module) = 0;
  virtual void leave(int depth) = 0;
  /// The gradient of a node is computed until what this returns is destroyed. The observer may end
  /// before that.
  virtual std::shared_ptr<void> during_gradient(const Node& node) = 0;

 protected:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
  ~Observer() = default;
};

}  // namespace ladon::detail
