#pragma once
// Recording of operations: how to write a differentiable operation.
//
// Compute the value with kernels, which are not differentiable, and pass it to `record` with the
// inputs and one gradient rule per input. A rule takes the gradient g of the value y and returns
// the gradient of its input. It is written in public operations, so that it is differentiable too:
//
//   Tensor log(const Tensor& x) {
//     check_floating("log", x);                                          // operands.h
//     return record("log", kernels::unary(Unary::log, x), {x},
//                   [x = saved(x)](const Tensor& g) { return g / x; });  // (ln x)' = 1/x
//   }
//
// - An operation is recorded only if an input requires a gradient (outside NoGrad) or is a dual
//   number; else the rules are dropped.
// - A rule keeps inputs by `saved(x)`, which detects edits in place, and takes y as its second
//   argument where the gradient is simpler in terms of y: [](const Tensor& g, const Tensor& y).
// - A rule may return the gradient in the broadcast shape and in another dtype: the backward pass
//   sums and casts it to the shape and dtype of the input.
// - If the gradients of several inputs are computed together, write them as one rule: record_joint.
// - Forward mode needs no further rule: g ↦ Jᵀ·g is linear, so it can be transposed (forward.cpp).
//   `symmetric(rule)` declares that J = Jᵀ, as in every elementwise operation; a matrix product
//   passes a second rule, for tangents: with_forward(rule, forward).
// - fast_or_composed (forms.h) pairs a fast form with its composed form; `elementwise`
//   (elementwise.h) makes an operation of one elementwise kernel.
//
// These functions build the graph. Each tensor that needs a gradient points to one node, which
// holds the rules and the nodes of the inputs. An operation with several outputs records one node
// per output; the gradients that arrive from these nodes at a common input add up.

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/autograd/tangent.h"
#include "ladon/core/tensor.h"

namespace ladon {

namespace detail {

/// Receiver of the gradients that a node computes: needs() returns whether an input needs a
/// gradient, give() receives it. give() sums a gradient of broadcast shape to the shape of its
/// input and casts it to the input's dtype, so that no operation has to.
class GradientSink {
 public:
  virtual bool needs(std::size_t input) const = 0;
  virtual void give(std::size_t input, Tensor gradient) = 0;
  /// Adds a gradient that equals `part` in the view window(whole) of the input's gradient and is 0
  /// elsewhere, so that the gradients of n slices do not take n additions of the full size. If that
  /// is not possible, returns false without an effect; then call give() with the whole gradient.
  using Window = std::function<Tensor(const Tensor& whole)>;
  virtual bool give_part(std::size_t, const Tensor&, const Window&) { return false; }

 protected:
  ~GradientSink() = default;
};

/// Node of the graph: a recorded operation, or a leaf (leaf.h).
class Node : public std::enable_shared_from_this<Node> {
 public:
  Node(const char* operation, const Tensor& output);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* operation() const { return operation_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  /// Levels of the vmaps over whose examples the output, or a tangent of it, varies
  /// (core/mapped.h).
  const mapped::Levels& levels() const { return levels_; }
  /// Nodes are numbered in the order of creation: the node of an input has a smaller number than
  /// the node of the operation that uses it.
  std::uint64_t number() const { return number_; }
  /// Hooks of register_hook (graph.h), in the order of their registration.
  using Hooks = std::map<std::uint64_t, std::function<Tensor(const Tensor& gradient)>>;
  const Hooks& hooks() const { return *hooks_; }
  bool has_hooks() const { return hooks_ && !hooks_->empty(); }
  std::uint64_t add_hook(std::function<Tensor(const Tensor& gradient)> hook);
  void remove_hook(std::uint64_t id) { hooks_->erase(id); }

  /// Whether the node is a frozen leaf, for which operations are not recorded.
  virtual bool frozen() const { return false; }
  /// Nodes of the inputs; null for an input that needs no gradient.
  virtual std::span<std::shared_ptr<Node>> inputs() = 0;
  virtual void backward(const Tensor& gradient, GradientSink& sink) = 0;
  /// J·t for a tangent t of one input, with J the Jacobian of the output with respect to it;
  /// undefined if the operation defines only g ↦ Jᵀ·g.
  virtual Tensor forward(std::size_t input, const Tensor& tangent);
  /// Tangents of the inputs, if some were dual numbers and the output is recorded too; else empty.
  /// The tangent of the output is not stored: its history may contain this node, which would then
  /// own itself.
  const Tangents& tangents() const { return tangents_; }
  void keep_tangents(Tangents tangents) { tangents_ = std::move(tangents); }
  /// Adds to levels() those of the output's tangent, which gradients of the output may have too.
  void add_levels(const mapped::Levels& levels) { levels_ = levels_.with(levels); }
  /// Frees the tensors that the rules saved. The links to the inputs stay, so that a second
  /// backward pass through this node throws Error instead of silently skipping it.
  virtual void release() = 0;

 protected:
  /// bury() puts nodes on a list, and drain() destroys the listed nodes one after the other: a
  /// chain of a million nodes would overflow the stack if each destroyed the next.
  static void bury(std::span<std::shared_ptr<Node>> nodes);
  static void drain();

 private:
  const char* operation_;
  std::uint64_t number_;
  std::unique_ptr<Hooks> hooks_;
  Tangents tangents_;
  mapped::Levels levels_;
  Shape shape_;
  DType dtype_;
};

}  // namespace detail

/// A tensor kept for the backward pass. Reading it throws Error if it was edited in place after it
/// was saved.
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
/// Saves x only if `input` needs a derivative. Use it for an x that only the derivative with
/// respect to `input` reads.
inline Saved saved_for(const Tensor& input, const Tensor& x) {
  return input.requires_grad() || input.tangent() ? Saved(x) : Saved();
}

namespace detail {

/// Reference to an input of an operation.
struct Input {
  Input(const Tensor& x) : tensor(&x) {}  // NOLINT: implicit, so that inputs read {a, b}
  const Tensor* tensor;
};

}  // namespace detail

/// Whether an operation on these inputs is recorded: an input requires a gradient and recording is
/// on (grad_enabled()), or an input is a dual number. Undefined tensors are ignored.
bool recorded(std::initializer_list<detail::Input> inputs);
bool recorded(std::span<const Tensor> inputs);

namespace detail {

template <class Rule>
struct SymmetricRule : Rule {};
template <class Rule, class Forward>
struct RuleWithForward : Rule {
  Forward forward;
};

}  // namespace detail

/// Marks a rule g ↦ Jᵀ·g whose J is symmetric, as in an elementwise operation: forward mode then
/// uses the same rule, called with the tangent expanded to the output's shape.
template <class Rule>
detail::SymmetricRule<Rule> symmetric(Rule rule) {
  return {std::move(rule)};
}

/// Joins a rule g ↦ Jᵀ·g with the map t ↦ J·t of tangents, so that forward mode need not transpose
/// the rule.
template <class Rule, class Forward>
detail::RuleWithForward<Rule, Forward> with_forward(Rule rule, Forward forward) {
  return {std::move(rule), std::move(forward)};
}

namespace detail {

/// The node that receives the gradient of x; null if x requires no gradient.
inline std::shared_ptr<Node> node_of(const Tensor& x) {
  return x.requires_grad() ? x.history() : nullptr;
}

template <class Rule>
inline constexpr bool is_symmetric = false;
template <class Rule>
inline constexpr bool is_symmetric<SymmetricRule<Rule>> = true;

/// t expanded and cast to the shape and dtype of the node's output.
Tensor as_output(const Node& node, const Tensor& t);

/// Kinds of derivatives that an operation's output gets because of its inputs.
struct Origins {
  bool recorded = false;  ///< Whether an input requires a gradient and recording is on.
  Tangents tangents;      ///< Tangents of the inputs; empty if no input has one.
};
Origins origins(std::initializer_list<Input> inputs);
Origins origins(std::span<const Tensor> inputs);

/// Sets the history of y to `node` if an input requires a gradient, and the tangent of y if an
/// input has a tangent.
void attach(Tensor& y, const std::shared_ptr<Node>& node, Origins origins);

/// The output, saved in its node without its history: with the history the node would own itself.
class SavedOutput {
 public:
  explicit SavedOutput(const Tensor& y) : saved_(y.detach()) {}
  /// The output with its tangent and, if the backward pass itself is recorded, with its history.
  Tensor attached(Node& node) const;

 private:
  Saved saved_;
};
struct NoOutput {
  explicit NoOutput(const Tensor&) {}
};

[[noreturn]] void throw_freed(const char* operation);

/// A node that owns the nodes of its inputs, and destroys them without recursion. Links is a
/// std::array or std::vector of std::shared_ptr<Node>, one for each input.
template <class Links>
class LinkedNode : public Node {
 public:
  LinkedNode(const char* operation, const Tensor& y, Links links)
      : Node(operation, y), links_(std::move(links)) {}
  /// Runs after the derived class has destroyed its rules. Only lists the inputs' nodes; ~Node()
  /// then calls drain(), which destroys them.
  ~LinkedNode() override { bury(links_); }
  std::span<std::shared_ptr<Node>> inputs() final { return links_; }

 protected:
  Links links_;
};

/// A node with one rule per input: rule(g) or rule(g, y).
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
  Tensor forward(std::size_t input, const Tensor& tangent) override {
    return forward_at(input, tangent, std::index_sequence_for<Rules...>{});
  }
  void release() override {
    state_.reset();
    Node::drain();
  }

 private:
  static auto links(std::initializer_list<Input> inputs) {
    std::array<std::shared_ptr<Node>, sizeof...(Rules)> nodes;
    auto node = nodes.begin();
    for (const Input& input : inputs) *node++ = node_of(*input.tensor);
    return nodes;
  }
  template <std::size_t... I>
  void apply(const Tensor& g, GradientSink& sink, std::index_sequence<I...>) {
    (apply_one(std::get<I>(state_->rules), I, g, sink), ...);
  }
  template <class Rule>
  void apply_one(Rule& rule, std::size_t i, const Tensor& g, GradientSink& sink) {
    if (sink.needs(i)) sink.give(i, call(rule, g));
  }
  template <class Rule>
  Tensor call(Rule& rule, const Tensor& g) {
    if constexpr (std::is_invocable_v<Rule&, const Tensor&, const Tensor&>)
      return rule(g, state_->output.attached(*this));
    else
      return rule(g);
  }
  template <std::size_t... I>
  Tensor forward_at(std::size_t input, const Tensor& t, std::index_sequence<I...>) {
    Tensor result;
    (void)((I == input && (result = forward_one(std::get<I>(state_->rules), t), true)) || ...);
    return result;
  }
  template <class Rule>
  Tensor forward_one(Rule& rule, const Tensor& t) {
    if constexpr (requires { rule.forward(t); })
      return rule.forward(t);
    else if constexpr (is_symmetric<Rule>)
      return call(rule, as_output(*this, t));
    else
      return Tensor();
  }

  std::optional<State> state_;
};

/// A node with one rule for the gradients of all inputs: rule(g, sink) or rule(g, y, sink).
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
    state_.reset();
    drain();
  }

 private:
  std::optional<State> state_;
};

}  // namespace detail

/// Records that y was computed from `inputs`, with one gradient rule per input, in order. A rule
/// takes the gradient g of y, or g and y, and returns the gradient of its input; it is called only
/// if that input needs a gradient. Rules are written in public operations, so that they are
/// differentiable too; they capture inputs by `saved(x)`. Returns y with its history, or y
/// unchanged if no input needs a derivative.
///
///   return record("mul", kernels::binary(Binary::mul, a, b), {a, b},
///                 [b = saved(b)](const Tensor& g) { return g * b; },
///                 [a = saved(a)](const Tensor& g) { return g * a; });
template <class... Rules>
Tensor record(const char* operation, Tensor y, std::initializer_list<detail::Input> inputs,
              Rules... rules) {
  detail::require(inputs.size() == sizeof...(Rules), "an operation records one rule per input");
  if (!recorded(inputs)) return y;
  detail::attach(
      y, std::make_shared<detail::RuleNode<Rules...>>(operation, y, inputs, std::move(rules)...),
      detail::origins(inputs));
  return y;
}

/// Records y as record() does, but with one rule for all inputs: rule(g, sink) or rule(g, y, sink),
/// which calls sink.give(i, gradient) for each input i (and may skip those for which sink.needs(i)
/// is false). Use it for fused gradients, and if the number of inputs is not fixed.
template <class Rule>
Tensor record_joint(const char* operation, Tensor y, std::span<const Tensor> inputs, Rule rule) {
  if (!recorded(inputs)) return y;
  std::vector<std::shared_ptr<detail::Node>> links;
  for (const Tensor& input : inputs) links.push_back(detail::node_of(input));
  detail::attach(
      y, std::make_shared<detail::JointNode<Rule>>(operation, y, std::move(links), std::move(rule)),
      detail::origins(inputs));
  return y;
}
template <class Rule>
Tensor record_joint(const char* operation, Tensor y, std::initializer_list<Tensor> inputs,
                    Rule rule) {
  return record_joint(operation, std::move(y), std::span(inputs.begin(), inputs.size()),
                      std::move(rule));
}

}  // namespace ladon
