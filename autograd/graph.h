#pragma once
// Gradients, for users: when operations are recorded, and the reverse sweep over what was recorded.
// For authors of operations: record.h.

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

/// Scope in which the reverse sweep on this thread throws Error at the first operation whose
/// gradient contains a NaN, and names it.
struct DetectAnomaly : private detail::Scoped<bool> {
  DetectAnomaly() : Scoped(detail::modes.detecting, true) {}
};

// --- the reverse sweep ---

struct BackwardOptions {
  bool retain_graph = false;  ///< Keep the tensors saved for the rules, so that the graph can be
                              ///< swept again.
  /// Record the sweep itself, for higher derivatives. Implies retain_graph. A leaf's gradient then
  /// owns the graph, and the graph owns the leaf: clear it (zero_grad, set_grad({})) after use, or
  /// neither is ever freed. grad() with create_graph makes no such cycle.
  bool create_graph = false;
};

/// Adds d loss / d leaf to the gradient of every leaf that `loss` depends on, at the end of the
/// sweep: if a rule or a hook throws, no gradient is changed. `loss` has one element. Throws Error
/// if it records no history, if the graph was already freed, or if the gradient of a leaf was
/// rewritten since it was last cleared (by a particle method: the sum would mix two different
/// things).
void backward(const Tensor& loss, BackwardOptions options = {});
/// Backward sweep of the loss ⟨cotangent, output⟩; `cotangent` has the output's shape.
void backward(const Tensor& output, const Tensor& cotangent, BackwardOptions options = {});

struct GradOptions {
  /// One per output; empty: outputs of one element, cotangent 1.
  std::vector<Tensor> cotangents = {};
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  ///< Undefined, rather than Error, for an input that no output uses.
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

/// Calls `hook` with the gradient of x in every sweep that reaches x, before it is used; a defined
/// result replaces the gradient (same shape and dtype). Throws Error if x records no history, and
/// if the hook captures x itself, which would make x own itself: capture x.detach(). (A hook that
/// captures a result computed from x makes the same cycle, and is not detected.)
using GradientHook = std::function<Tensor(const Tensor& gradient)>;
HookHandle register_hook(const Tensor& x, GradientHook hook);

}  // namespace ladon
