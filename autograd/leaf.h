#pragma once
// Leaves: the tensors whose gradients are wanted. Users see them through Tensor (grad, set_grad,
// set_requires_grad); this header is for code that reads or writes gradients: optimizers,
// particles.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ladon/autograd/record.h"

namespace ladon {

/// Mark of a rewritten gradient: one that was overwritten by something other than backward(). The
/// mark stays until the gradient is cleared or replaced; adding to such a gradient, or rewriting it
/// again, would mix two things, and is an Error.
struct Rewrite {
  std::string by = {};  ///< Author, "svgd" say; empty: not rewritten.
  /// Called once by the step that uses this gradient, after its update and with its learning rate:
  /// it adds a sampler's noise. May be empty.
  std::function<void(double rate)> at_step = {};
  bool prior = false;  ///< Whether it includes the gradient of a prior.
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
  /// Adds g. Throws Error as check_accumulates() does.
  void accumulate(Tensor g, bool create_graph);
  /// Throws Error if the present gradient was rewritten, and if g differs between examples of a
  /// vmap.
  void check_accumulates(const Tensor& g) const;
  /// Throws Error naming `operation` if the gradient was rewritten.
  void check_own_gradient(const char* operation) const;

  /// Marks the present gradient as rewritten. Throws Error if it already is.
  void set_rewrite(Rewrite rewrite);
  /// The rewrite of the present gradient: its author and action.
  Rewrite rewrite() const;
  /// Called by a step that uses the present gradient: marks it as used, and returns the rewrite's
  /// `at_step` the first time, null later.
  std::function<void(double rate)> use();
  /// Whether a step used the present gradient.
  bool used() const;

  /// Freezes the leaf for all tensors that share it: backward() then adds no gradient.
  void freeze(bool on) { frozen_ = on; }
  bool frozen() const override { return frozen_; }

  /// Records that another tensor replaces this one from now on, by the operation `by`
  /// ("Module::to(f64)").
  void replace(std::string by);
  /// Undoes replace(): this leaf is a model's parameter again.
  void put_back() { replaced_by_.clear(); }
  /// Throws Error naming `operation` if another tensor replaced this one later than `taken` (the
  /// value of replacements() when the caller took this leaf): the caller would train a tensor that
  /// no model uses any more. A leaf taken after its replacement was taken on purpose.
  void check_in_place(const char* operation, std::uint64_t taken = 0) const;

  /// Marks the leaf as holding a temporary value ("WeightAverage::apply()"); give_back() restores
  /// the old one, so writes in between are lost.
  void lend(std::string to) { lent_to_ = std::move(to); }
  void give_back() { lent_to_.clear(); }
  /// Throws Error naming `operation`, which is about to write to the leaf, while it is lent.
  void check_own_value(const char* operation) const;

 private:
  std::atomic<bool> frozen_ = false;  // a thread may freeze the leaf while others record
  std::string lent_to_;
  std::string replaced_by_;
  std::uint64_t replaced_at_ = 0;  // value of replacements() at that time
  mutable std::mutex mutex_;       // guards the members below
  Tensor gradient_;
  bool used_ = false;
  std::unique_ptr<Rewrite> rewrite_;
};

/// Number of replace() calls in this process so far; holders of leaves use it as a time stamp.
std::uint64_t replacements();

/// A leaf that something depends on, and the operation that uses it.
struct LeafUse {
  std::shared_ptr<detail::Node> leaf;
  const char* used_by;
};
/// The leaves that `output` depends on, each once; none for a tensor without history.
std::vector<LeafUse> leaves_of(const Tensor& output);

}  // namespace ladon
