#pragma once
// Gradients, for users: when operations are recorded, and the backward pass over the recorded
// graph. For authors of operations: record.h.

#include <functional>
#include <initializer_list>
#include <vector>

#include "ladon/autograd/hook.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

// --- grad mode ---

/// Whether operations are recorded on this thread (true at first).
bool grad_enabled();

/// Switches recording off (or on) on this thread until the end of the scope.
struct GradMode : private detail::Scoped<bool> {
  explicit GradMode(bool enabled) : Scoped(detail::modes.recording, enabled) {}
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};
struct EnableGrad : GradMode {
  EnableGrad() : GradMode(true) {}
};

/// Scope in which a backward pass on this thread throws Error at the first operation whose gradient
/// contains a NaN, naming the operation.
struct DetectAnomaly : private detail::Scoped<bool> {
  DetectAnomaly() : Scoped(detail::modes.detecting, true) {}
};

// --- the backward pass ---

struct BackwardOptions {
  bool retain_graph = false;  ///< Keep the tensors saved for backward, so that another backward
                              ///< pass through the same graph is possible.
  /// Record the backward pass itself, for higher derivatives. Implies retain_graph. A leaf's
  /// gradient then owns the graph, and the graph owns the leaf: clear the gradient (zero_grad,
  /// set_grad({})) after use, or neither is ever freed. grad() with create_graph makes no such
  /// cycle.
  bool create_graph = false;
};

/// Adds d loss / d leaf to the gradient of every leaf that `loss` depends on. The gradients are
/// added at the end of the backward pass: if a gradient rule or a hook throws, no gradient is
/// changed. `loss` has one element. Throws Error if `loss` records no history, if the graph was
/// already freed, or if a particle method replaced the gradient of a leaf by an update direction
/// since that gradient was last cleared (their sum would be neither a gradient nor a direction).
void backward(const Tensor& loss, BackwardOptions options = {});
/// Backward pass of the loss ⟨cotangent, output⟩; `cotangent` has the shape and dtype of `output`.
void backward(const Tensor& output, const Tensor& cotangent, BackwardOptions options = {});

struct GradOptions {
  /// One cotangent per output. If empty, each output must have one element, and its cotangent is 1.
  std::vector<Tensor> cotangents = {};
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  ///< For an input that no output depends on, return an undefined
                              ///< gradient instead of throwing Error.
};

/// The gradients of Σ⟨cotangent, output⟩ with respect to `inputs` (leaves or intermediate results).
/// Changes no leaf's gradient.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});
inline std::vector<Tensor> grad(
    std::initializer_list<Tensor> outputs,  // makes grad({y}, {x}) a call with lists
    std::initializer_list<Tensor> inputs, const GradOptions& options = {}) {
  return grad(std::vector(outputs), std::vector(inputs), options);
}
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options = {});

// --- hooks ---

/// Calls `hook` with the gradient of x in every backward pass that reaches x, before the gradient
/// is used; if the hook returns a defined tensor, this replaces the gradient (same shape and
/// dtype). Throws Error if x records no history, and if the hook captures x itself, which would
/// make x own itself: capture x.detach(). (A hook that captures a result computed from x makes the
/// same cycle, and is not detected.)
using GradientHook = std::function<Tensor(const Tensor& gradient)>;
HookHandle register_hook(const Tensor& x, GradientHook hook);

}  // namespace ladon
