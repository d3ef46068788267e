#pragma once
// The graph: nodes recorded as operations run, and the reverse sweep over them.
//
// Each tensor that needs a gradient points to one node; a node holds the rules that turn the
// gradient of its tensor into those of its inputs. An operation of several outputs records one node
// an output, because the gradients of their common input add up anyway.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

// --- grad mode ---

/// Whether operations are recorded on this thread (true at first).
bool grad_enabled();

/// Switches recording off (or on) on this thread until the end of the scope.
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};
struct EnableGrad : GradMode {
  EnableGrad() : GradMode(true) {}
};

/// While one is alive on this thread, the reverse sweep throws Error at the first operation whose
/// gradient contains a NaN, and names it.
class DetectAnomaly {
 public:
  DetectAnomaly();
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool before_;
};

// --- the reverse sweep ---

struct BackwardOptions {
  bool retain_graph = false;  ///< Keep what the rules saved, so that the graph can be swept again.
  /// Record the sweep itself, for higher derivatives. Implies retain_graph. A leaf's gradient then
  /// holds the graph, and the graph the leaf: clear it (zero_grad, set_grad({})) when it has served,
  /// or neither is ever freed. grad() with create_graph leaves no such knot.
  bool create_graph = false;
};

/// Adds d loss / d leaf to the gradient of every leaf that `loss` depends on. `loss` has one
/// element. Throws Error if it records no history, if the graph was already freed, or, before
/// anything is added, if the gradient of a leaf was rewritten since it was last cleared (by a
/// particle method: the two would mix).
void backward(const Tensor& loss, BackwardOptions options = {});
/// The same for ⟨cotangent, output⟩; `cotangent` has the output's shape.
void backward(const Tensor& output, const Tensor& cotangent, BackwardOptions options = {});

struct GradOptions {
  /// One an output; empty: outputs of one element, cotangent 1.
  std::vector<Tensor> cotangents = {};
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  ///< Undefined, rather than Error, for an input that no output uses.
};

/// The gradients of Σ⟨cotangent, output⟩ by `inputs` (leaves or intermediate results). Touches no
/// leaf's gradient.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options = {});
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options = {});

/// Takes back what was registered. A copy is the same handle; one that goes out of scope removes
/// nothing.
class HookHandle {
 public:
  HookHandle() = default;
  explicit HookHandle(std::function<void()> remove)
      : remove_(std::make_shared<std::function<void()>>(std::move(remove))) {}
  /// Removes the hook, if it is still there.
  void remove() {
    if (remove_ && *remove_) std::exchange(*remove_, nullptr)();
  }

 private:
  std::shared_ptr<std::function<void()>> remove_;
};

/// Calls `hook` with the gradient of x in every sweep that reaches x, before it is used; a defined
/// result replaces the gradient (same shape and dtype). Throws Error if x records no history, and
/// if the hook captures x itself, which would then own itself: capture x.detach(). (A hook that
/// captures what was computed from x ties the same knot, and is not noticed.)
using Hook = std::function<Tensor(const Tensor& gradient)>;
HookHandle register_hook(const Tensor& x, Hook hook);

// --- recording ---

/// What a node hands its results to: tells which inputs want a gradient, and takes it. A gradient
/// of broadcast shape is summed to its input's shape and cast to its dtype here, once for all
/// operations.
class GradientSink {
 public:
  virtual bool needs(std::size_t input) const = 0;
  virtual void give(std::size_t input, Tensor gradient) = 0;

 protected:
  ~GradientSink() = default;
};

class Node : public std::enable_shared_from_this<Node> {
 public:
  Node(const char* operation, const Tensor& output);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* operation() const { return operation_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  /// Nodes are numbered as they are made: an input's number is smaller than its user's.
  std::uint64_t number() const { return number_; }
  /// Hooks in the order in which they were added.
  const std::map<std::uint64_t, Hook>& hooks() const { return *hooks_; }
  bool has_hooks() const { return hooks_ && !hooks_->empty(); }
  std::uint64_t add_hook(Hook hook);
  void remove_hook(std::uint64_t id) { hooks_->erase(id); }

  /// Nodes of the inputs; null for an input that needs no gradient.
  virtual std::span<std::shared_ptr<Node>> inputs() = 0;
  virtual void backward(const Tensor& gradient, GradientSink& sink) = 0;
  /// Frees what the rules saved, and the inputs.
  virtual void release() = 0;

 protected:
  /// Hands nodes over to be destroyed one after the other: a chain of a million nodes would
  /// overflow the stack if each destroyed the next.
  static void bury(std::span<std::shared_ptr<Node>> nodes);
  static void drain();

 private:
  const char* operation_;
  std::uint64_t number_;
  std::unique_ptr<std::map<std::uint64_t, Hook>> hooks_;
  Shape shape_;
  DType dtype_;
};

/// A tensor kept for backward. Reading it throws Error if it was edited in place since.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& x) : tensor_(x), version_(x.storage().version()) {}
  operator const Tensor&() const { return **this; }
  const Tensor& operator*() const {
    if (tensor_.storage().version() != version_) [[unlikely]]
      throw_edited();
    return tensor_;
  }
  const Tensor* operator->() const { return &tensor_; }

 private:
  [[noreturn]] void throw_edited() const;
  Tensor tensor_;
  std::uint32_t version_ = 0;
};
inline Saved saved(const Tensor& x) { return Saved(x); }
/// Keeps x only if `input`, whose gradient reads it, needs one.
inline Saved saved_for(const Tensor& input, const Tensor& x) {
  return input.requires_grad() ? Saved(x) : Saved();
}

/// Reference to an input of an operation.
struct Input {
  Input(const Tensor& x) : tensor(&x) {}  // NOLINT: implicit, so that inputs read {a, b}
  const Tensor* tensor;
};

namespace detail {

bool any_requires_grad(std::initializer_list<Input> inputs);

/// The output, kept without its history, which would make the node own itself.
class SavedOutput {
 public:
  explicit SavedOutput(const Tensor& y) : saved_(y.detach()) {}
  Tensor attached(Node& node) const {
    Tensor y = *saved_;
    if (grad_enabled()) y.set_history(node.shared_from_this());
    return y;
  }

 private:
  Saved saved_;
};
struct NoOutput {
  explicit NoOutput(const Tensor&) {}
};

[[noreturn]] void throw_freed(const char* operation);

/// Owns the inputs' nodes and frees them iteratively. Links is std::array or std::vector.
template <class Links>
class LinkedNode : public Node {
 public:
  LinkedNode(const char* operation, const Tensor& y, Links links)
      : Node(operation, y), links_(std::move(links)) {}
  ~LinkedNode() override { bury(links_); }  // the derived rules are gone; ~Node drains
  std::span<std::shared_ptr<Node>> inputs() final { return links_; }

 protected:
  Links links_;
};

/// A node of N inputs with one rule each: rule(g) or rule(g, y).
template <class... Rules>
class RuleNode final : public LinkedNode<std::array<std::shared_ptr<Node>, sizeof...(Rules)>> {
  static constexpr bool uses_output =
      (std::is_invocable_v<Rules&, const Tensor&, const Tensor&> || ...);
  using Output = std::conditional_t<uses_output, SavedOutput, NoOutput>;
  using Base = LinkedNode<std::array<std::shared_ptr<Node>, sizeof...(Rules)>>;
  struct State {
    std::tuple<Rules...> rules;
    [[no_unique_address]] Output output;
  };

 public:
  RuleNode(const char* operation, const Tensor& y, std::initializer_list<Input> inputs,
           Rules... rules)
      : Base(operation, y, links(inputs)),
        state_(State{std::tuple<Rules...>(std::move(rules)...), Output(y)}) {}

  void backward(const Tensor& g, GradientSink& sink) override {
    if (!state_) throw_freed(this->operation());
    apply(g, sink, std::index_sequence_for<Rules...>{});
  }
  void release() override {
    auto nodes = std::move(this->links_);  // outlive the rules, whose tensors point to them
    state_.reset();
    Node::bury(nodes);
    Node::drain();
  }

 private:
  static auto links(std::initializer_list<Input> inputs) {
    std::array<std::shared_ptr<Node>, sizeof...(Rules)> nodes;
    auto node = nodes.begin();
    for (const Input& input : inputs) *node++ = input.tensor->history();
    return nodes;
  }
  template <std::size_t... I>
  void apply(const Tensor& g, GradientSink& sink, std::index_sequence<I...>) {
    (apply_one(std::get<I>(state_->rules), I, g, sink), ...);
  }
  template <class Rule>
  void apply_one(Rule& rule, std::size_t i, const Tensor& g, GradientSink& sink) {
    if (!sink.needs(i)) return;
    if constexpr (std::is_invocable_v<Rule&, const Tensor&, const Tensor&>)
      sink.give(i, rule(g, state_->output.attached(*this)));
    else
      sink.give(i, rule(g));
  }

  std::optional<State> state_;
};

/// A node whose one rule gives all gradients: rule(g, sink) or rule(g, y, sink).
template <class Rule>
class JointNode final : public LinkedNode<std::vector<std::shared_ptr<Node>>> {
  static constexpr bool uses_output =
      std::is_invocable_v<Rule&, const Tensor&, const Tensor&, GradientSink&>;
  using Output = std::conditional_t<uses_output, SavedOutput, NoOutput>;
  struct State {
    Rule rule;
    [[no_unique_address]] Output output;
  };

 public:
  JointNode(const char* operation, const Tensor& y, std::vector<std::shared_ptr<Node>> links,
            Rule rule)
      : LinkedNode(operation, y, std::move(links)), state_(State{std::move(rule), Output(y)}) {}

  void backward(const Tensor& g, GradientSink& sink) override {
    if (!state_) throw_freed(operation());
    if constexpr (uses_output)
      state_->rule(g, state_->output.attached(*this), sink);
    else
      state_->rule(g, sink);
  }
  void release() override {
    auto nodes = std::move(links_);
    state_.reset();
    bury(nodes);
    drain();
  }

 private:
  std::optional<State> state_;
};

}  // namespace detail

/// Records that y was computed from `inputs`, with one rule an input, in order. A rule takes the
/// gradient g of y, or g and y, and returns the input's gradient; it is called only when wanted.
/// The rules are written in public operations, so that their own derivatives exist; they capture
/// inputs by `saved(x)`. Returns y with its history, or y as it is when nothing is to be recorded.
///
///   return record("mul", kernels::binary(Binary::mul, a, b), {a, b},
///                 [b = saved(b)](const Tensor& g) { return g * b; },
///                 [a = saved(a)](const Tensor& g) { return g * a; });
template <class... Rules>
Tensor record(const char* operation, Tensor y, std::initializer_list<Input> inputs,
              Rules... rules) {
  detail::require(inputs.size() == sizeof...(Rules), "an operation records one rule an input");
  if (!detail::any_requires_grad(inputs)) return y;
  y.set_history(
      std::make_shared<detail::RuleNode<Rules...>>(operation, y, inputs, std::move(rules)...));
  return y;
}

/// As record, with one rule for all inputs: rule(g, sink) or rule(g, y, sink) asks sink.needs(i)
/// and calls sink.give(i, gradient). For fused gradients, and for any number of inputs.
template <class Rule>
Tensor record_joint(const char* operation, Tensor y, std::span<const Tensor> inputs, Rule rule) {
  std::vector<std::shared_ptr<Node>> links;
  bool any = false;
  for (const Tensor& input : inputs) {
    links.push_back(input.history());
    any = any || input.requires_grad();
  }
  if (!any || !grad_enabled()) return y;
  y.set_history(
      std::make_shared<detail::JointNode<Rule>>(operation, y, std::move(links), std::move(rule)));
  return y;
}
template <class Rule>
Tensor record_joint(const char* operation, Tensor y, std::initializer_list<Tensor> inputs,
                    Rule rule) {
  return record_joint(operation, std::move(y), std::span(inputs.begin(), inputs.size()),
                      std::move(rule));
}

}  // namespace ladon
