#pragma once
// Recording of operations: how to write a differentiable operation.
//
// Compute the value with kernels, which are not differentiable, and pass it to `record` with the
// inputs and one rule per input. A rule takes the gradient g of the value y and returns the
// gradient of its input, written in public operations, so that its own derivatives exist:
//
//   Tensor log(const Tensor& x) {
//     check_floating("log", x);                                          // operands.h
//     return record("log", kernels::unary(Unary::log, x), {x},
//                   [x = saved(x)](const Tensor& g) { return g / x; });  // (ln x)' = 1/x
//   }
//
// - Nothing is recorded, and the rule is dropped, unless gradients are on and an input needs one.
// - A rule keeps inputs by `saved(x)`, which detects edits in place, and takes y as its second
//   argument where the gradient is simpler in terms of y: [](const Tensor& g, const Tensor& y).
// - A gradient may have the broadcast shape and another dtype: the sweep sums and casts it.
// - Several gradients that are computed together are one rule: record_joint.
// - Forward mode needs no rule of its own: g ↦ Jᵀ·g is linear, and is transposed (forward.cpp).
//   `symmetric(rule)` declares that J = Jᵀ, as in every elementwise operation; a product gives a
//   second rule, for tangents: with_forward(rule, forward).
// - fast_or_composed (forms.h) pairs a fast form with its composed form; `elementwise`
//   (elementwise.h) makes an operation of one elementwise kernel.
//
// Underneath is the graph. Each tensor that needs a gradient points to one node, which holds the
// rules and the nodes of the inputs. An operation of several outputs records one node per output,
// because the gradients of their common input add up anyway.

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

/// Receiver of a node's gradients: needs() returns whether an input wants one, give() takes it. A
/// gradient of broadcast shape is summed to its input's shape and cast to its dtype here, once for
/// all operations.
class GradientSink {
 public:
  virtual bool needs(std::size_t input) const = 0;
  virtual void give(std::size_t input, Tensor gradient) = 0;
  /// Adds a gradient that equals `part` inside window(whole) and is 0 elsewhere, so that the
  /// gradients of n slices do not add n tensors of the full size. Returns false where that cannot
  /// be done; then give the whole gradient.
  using Window = std::function<Tensor(const Tensor& whole)>;
  virtual bool give_part(std::size_t, const Tensor&, const Window&) { return false; }

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
  /// Levels of the vmaps over whose examples the output, or a tangent of it, varies
  /// (core/mapped.h).
  const mapped::Levels& levels() const { return levels_; }
  /// Nodes are numbered in the order of creation: an input's number is smaller than its user's.
  std::uint64_t number() const { return number_; }
  /// Hooks of register_hook (graph.h), in the order of their registration.
  using Hooks = std::map<std::uint64_t, std::function<Tensor(const Tensor& gradient)>>;
  const Hooks& hooks() const { return *hooks_; }
  bool has_hooks() const { return hooks_ && !hooks_->empty(); }
  std::uint64_t add_hook(std::function<Tensor(const Tensor& gradient)> hook);
  void remove_hook(std::uint64_t id) { hooks_->erase(id); }

  /// Whether it is a leaf for which operations are not recorded.
  virtual bool frozen() const { return false; }
  /// Nodes of the inputs; null for an input that needs no gradient.
  virtual std::span<std::shared_ptr<Node>> inputs() = 0;
  virtual void backward(const Tensor& gradient, GradientSink& sink) = 0;
  /// J·t for a tangent t of one input; undefined if only Jᵀ is known.
  virtual Tensor forward(std::size_t input, const Tensor& tangent);
  /// Tangents of the inputs, if these were dual numbers and the output is recorded too; else empty.
  /// (A node that held the output's own tangent, which may be recorded, would own itself.)
  const Tangents& tangents() const { return tangents_; }
  void keep_tangents(Tangents tangents) { tangents_ = std::move(tangents); }
  /// Adds levels that gradients of the output may have: those of the output's tangent.
  void add_levels(const mapped::Levels& levels) { levels_ = levels_.with(levels); }
  /// Frees what the rules saved. The links to the inputs stay, so that a second sweep through this
  /// node is refused instead of silently skipping it.
  virtual void release() = 0;

 protected:
  /// Hands nodes over to be destroyed one after the other: a chain of a million nodes would
  /// overflow the stack if each destroyed the next.
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
/// Keeps x only if `input` needs a gradient; x is read by that gradient alone.
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

/// Whether what is computed from these inputs needs derivatives: gradients are on and an input
/// requires one, or an input is a dual number. Undefined tensors are ignored.
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

/// Marks a rule g ↦ Jᵀ·g whose J is symmetric, as in an elementwise operation: it serves tangents
/// too. The rule is then called with the tangent expanded to the output's shape.
template <class Rule>
detail::SymmetricRule<Rule> symmetric(Rule rule) {
  return {std::move(rule)};
}

/// A rule g ↦ Jᵀ·g together with t ↦ J·t, which saves forward mode the transposition.
template <class Rule, class Forward>
detail::RuleWithForward<Rule, Forward> with_forward(Rule rule, Forward forward) {
  return {std::move(rule), std::move(forward)};
}

namespace detail {

/// The node that receives the gradient of x; null where none is wanted.
inline std::shared_ptr<Node> node_of(const Tensor& x) {
  return x.requires_grad() ? x.history() : nullptr;
}

template <class Rule>
inline constexpr bool is_symmetric = false;
template <class Rule>
inline constexpr bool is_symmetric<SymmetricRule<Rule>> = true;

/// t as a tangent of the node's output: in its shape and dtype.
Tensor as_output(const Node& node, const Tensor& t);

/// Derivatives that the output inherits from the inputs of an operation.
struct Origins {
  bool recorded = false;  ///< Gradients are on, and an input needs one.
  Tangents tangents;      ///< Empty if no input has one.
};
Origins origins(std::initializer_list<Input> inputs);
Origins origins(std::span<const Tensor> inputs);

/// Sets the history and the tangent of y, each if an input has one.
void attach(Tensor& y, const std::shared_ptr<Node>& node, Origins origins);

/// The output without its history, with which the node would own itself.
class SavedOutput {
 public:
  explicit SavedOutput(const Tensor& y) : saved_(y.detach()) {}
  /// The output with its tangent and, where the sweep itself is recorded, with its history.
  Tensor attached(Node& node) const;

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
  ~LinkedNode() override { bury(links_); }  // the rules are destroyed by now; ~Node drains
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
    state_.reset();
    drain();
  }

 private:
  std::optional<State> state_;
};

}  // namespace detail

/// Records that y was computed from `inputs`, with one rule per input, in order. A rule takes the
/// gradient g of y, or g and y, and returns the input's gradient; it is called only when that is
/// wanted. Rules are written in public operations, so that their own derivatives exist; they
/// capture inputs by `saved(x)`. Returns y with its history, or y unchanged when nothing is to be
/// recorded.
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

/// Records y as record() does, with one rule for all inputs: rule(g, sink) or rule(g, y, sink)
/// queries sink.needs(i) and calls sink.give(i, gradient). For fused gradients and any number of
/// inputs.
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
