#pragma once
// Leaves: the tensors in which backward() stores gradients, such as parameters. Users access them
// through Tensor (grad, set_grad, set_requires_grad); this header is for code that reads or writes
// gradients: optimizers, particle methods.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ladon/autograd/record.h"

namespace ladon {

/// Mark of a rewritten gradient: a gradient that a method such as SVGD replaced by an update
/// direction. The mark stays until the gradient is cleared or set. Adding to a rewritten gradient,
/// or rewriting it again, throws Error: the sum would be neither a gradient nor a direction.
struct Rewrite {
  std::string by = {};  ///< Name of the method, such as "svgd"; empty if not rewritten.
  /// Called once by the optimizer step that uses this gradient, after its update and with its
  /// learning rate, to add the noise of a sampler. May be empty.
  std::function<void(double rate)> at_step = {};
  bool prior = false;  ///< Whether the rewritten gradient includes the gradient of a prior.
};

/// A leaf has no inputs, and stores its gradient. Several threads may add to its gradient.
class Leaf final : public detail::Node {
 public:
  explicit Leaf(const Tensor& x) : Node("leaf", x) {}
  std::span<std::shared_ptr<detail::Node>> inputs() override { return {}; }
  void backward(const Tensor&, detail::GradientSink&) override {}
  void release() override {}

  /// The leaf that holds x's gradient, or null if x is not a leaf.
  static Leaf* of(const Tensor& x) { return dynamic_cast<Leaf*>(x.history().get()); }

  Tensor gradient() const;
  void set_gradient(Tensor g);
  /// Adds g to the gradient. Throws Error if check_accumulates(g) does.
  void accumulate(Tensor g, bool create_graph);
  /// Throws Error if g cannot be added to the gradient: if the gradient was rewritten, or if g
  /// differs between the examples of a vmap.
  void check_accumulates(const Tensor& g) const;
  /// Throws Error naming `operation` if the gradient was rewritten.
  void check_own_gradient(const char* operation) const;

  /// Marks the present gradient as rewritten. Throws Error if it already is.
  void set_rewrite(Rewrite rewrite);
  /// The mark of the present gradient; `by` is empty if it was not rewritten.
  Rewrite rewrite() const;
  /// Called by an optimizer step that uses the present gradient: marks the gradient as used, and
  /// returns the function `at_step` of its rewrite at the first call, null at later calls.
  std::function<void(double rate)> use();
  /// Whether an optimizer step used the present gradient.
  bool used() const;

  /// Freezes the leaf for all tensors that share it: backward() then adds no gradient.
  void freeze(bool on) { frozen_ = on; }
  bool frozen() const override { return frozen_; }

  /// Records that the operation `by`, such as "Module::to(f64)", replaced this parameter of a model
  /// by another tensor.
  void replace(std::string by);
  /// Undoes replace(): this leaf is a model's parameter again.
  void put_back() { replaced_by_.clear(); }
  /// Throws Error naming `operation` if another tensor replaced this one after the caller, such as
  /// an optimizer, obtained this leaf: the caller would train a tensor that no model uses. `taken`
  /// is the value of replacements() when the caller obtained the leaf. A leaf that was already
  /// replaced at that time is accepted: the caller chose it on purpose.
  void check_in_place(const char* operation, std::uint64_t taken = 0) const;

  /// Marks the leaf, until give_back(), as holding a temporary value that the scope `to`, such as
  /// "WeightAverage::apply()", has put there. The scope then restores the old value, so writes in
  /// between are lost.
  void lend(std::string to) { lent_to_ = std::move(to); }
  void give_back() { lent_to_.clear(); }
  /// Throws Error naming `operation`, which is about to write to the leaf, if the leaf holds a
  /// temporary value.
  void check_own_value(const char* operation) const;

 private:
  std::atomic<bool> frozen_ = false;  // a thread may freeze the leaf while others record
  std::string lent_to_;
  std::string replaced_by_;
  std::uint64_t replaced_at_ = 0;  // value of replacements() just after replace()
  mutable std::mutex mutex_;       // guards the members below
  Tensor gradient_;
  bool used_ = false;
  std::unique_ptr<Rewrite> rewrite_;
};

/// Number of replace() calls in this process so far; optimizers use it as a time stamp of when they
/// obtained their leaves.
std::uint64_t replacements();

/// A leaf, and the name of an operation that has it as an input.
struct LeafUse {
  std::shared_ptr<detail::Node> leaf;
  const char* used_by;
};
/// The leaves that `output` depends on, each once; empty for a tensor without history.
std::vector<LeafUse> leaves_of(const Tensor& output);

}  // namespace ladon
