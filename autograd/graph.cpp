#include "ladon/autograd/graph.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <unordered_map>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reduce.h"

namespace ladon {
namespace {

thread_local bool recording = true;
thread_local bool detecting = false;
std::atomic<std::uint64_t> next_number{0};

// The nodes of this thread that wait to be destroyed, if any. Without a destructor of its own: a
// static tensor may go after the thread's other variables.
thread_local std::vector<std::shared_ptr<Node>>* graveyard = nullptr;
thread_local bool draining = false;

/// A leaf: a tensor that gradients are wanted for. It has no inputs and keeps its gradient.
class Leaf final : public Node {
 public:
  explicit Leaf(const Tensor& x) : Node("leaf", x) {}
  std::span<std::shared_ptr<Node>> inputs() override { return {}; }
  void backward(const Tensor&, GradientSink&) override {}
  void release() override {}

  /// The first gradient is taken over when nobody else holds it; else copied, so that editing one
  /// leaf's gradient in place never changes another's.
  void accumulate(const Tensor& g, bool create_graph) {
    if (create_graph)
      grad = grad.defined() ? add(grad, g) : clone(g);
    else if (!grad.defined())
      grad = g.storage().owners() == 1 && g.contiguous() ? g.detach() : kernels::clone(g);
    else
      grad = kernels::binary(kernels::Binary::add, grad, g);
  }

  Tensor grad;
};

}  // namespace

// --- grad mode ---

bool grad_enabled() { return recording; }
GradMode::GradMode(bool enabled) : before_(std::exchange(recording, enabled)) {}
GradMode::~GradMode() { recording = before_; }
DetectAnomaly::DetectAnomaly() : before_(std::exchange(detecting, true)) {}
DetectAnomaly::~DetectAnomaly() { detecting = before_; }

// --- nodes ---

Node::Node(const char* operation, const Tensor& output)
    : operation_(operation),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      shape_(output.shape()),
      dtype_(output.dtype()) {}

Node::~Node() { drain(); }

std::vector<Hook>& Node::hooks() {
  if (!hooks_) hooks_ = std::make_unique<std::vector<Hook>>();
  return *hooks_;
}

void Node::bury(std::span<std::shared_ptr<Node>> nodes) {
  for (auto& node : nodes) {
    if (!node) continue;
    if (node.use_count() > 1) {  // not destroyed yet
      node.reset();
      continue;
    }
    if (!graveyard) graveyard = new std::vector<std::shared_ptr<Node>>;
    graveyard->push_back(std::move(node));
  }
}

void Node::drain() {
  if (!graveyard || draining) return;
  draining = true;
  while (!graveyard->empty()) {
    const std::shared_ptr<Node> node = std::move(graveyard->back());
    graveyard->pop_back();
  }
  delete std::exchange(graveyard, nullptr);
  draining = false;
}

void Saved::throw_edited() const {
  detail::fail("backward", "a tensor of shape ", tensor_.shape(),
               " that backward needs was edited in "
               "place: version ",
               version_, " was saved, version ", tensor_.storage().version(),
               " is there; edit a copy, or edit after backward");
}

namespace detail {

bool any_requires_grad(std::initializer_list<Input> inputs) {
  return recording && std::any_of(inputs.begin(), inputs.end(),
                                  [](const Input& input) { return input.tensor->requires_grad(); });
}

void throw_freed(const char* operation) {
  detail::fail("backward", "the graph at `", operation,
               "` was already freed; pass retain_graph = true to the first backward to "
               "sweep it twice");
}

}  // namespace detail

// --- what Tensor itself knows of its history ---

Tensor& Tensor::set_requires_grad(bool on) {
  LADON_CHECK(defined(), "set_requires_grad", "the tensor is undefined");
  LADON_CHECK(is_floating(dtype_), "set_requires_grad",
              "only floating-point tensors have gradients, got ", dtype_);
  const bool leaf = !history_ || dynamic_cast<Leaf*>(history_.get());
  LADON_CHECK(leaf, "set_requires_grad", "the tensor is the result of `",
              history_ ? history_->operation() : "",
              "`; only leaves can be switched; use detach()");
  if (on == requires_grad()) return *this;
  history_ = on ? std::make_shared<Leaf>(*this) : nullptr;
  return *this;
}

Tensor Tensor::grad() const {
  const auto* leaf = dynamic_cast<const Leaf*>(history_.get());
  return leaf ? leaf->grad : Tensor();
}

void Tensor::set_grad(Tensor g) {
  auto* leaf = dynamic_cast<Leaf*>(history_.get());
  LADON_CHECK(leaf, "set_grad", "only a leaf that requires a gradient keeps one");
  LADON_CHECK(!g.defined() || (g.shape() == shape_ && g.dtype() == dtype_), "set_grad",
              "the gradient is ", g.dtype(), " of shape ", g.shape(), ", the tensor ", dtype_,
              " of shape ", shape_);
  leaf->grad = std::move(g);
}

Tensor Tensor::detach() const {
  Tensor x = *this;
  x.history_ = nullptr;
  return x;
}

// --- the reverse sweep ---

namespace {

/// One pass over the graph: gathers the nodes below the outputs, sorts them by number so that users
/// come before inputs, and passes gradients down.
class Sweep final : GradientSink {
 public:
  /// Nodes numbered below `lowest` are left out.
  Sweep(bool retain_graph, bool create_graph, std::uint64_t lowest = 0)
      : lowest_(lowest), retain_graph_(retain_graph || create_graph), create_graph_(create_graph) {}

  void seed(const Tensor& output, const Tensor& cotangent) {
    accumulate(visits_[gather(output.history())], create_graph_ ? cotangent : cotangent.detach());
  }

  /// Sweeps to all leaves and adds to their gradients.
  void run_to_leaves() {
    run([this](Visit& visit) {
      if (!visit.node->inputs().empty()) return;  // cheaper to ask than the cast
      if (auto* leaf = dynamic_cast<Leaf*>(visit.node.get()))
        leaf->accumulate(visit.take(), create_graph_);
    });
  }

  /// Sweeps to `targets` only and returns their gradients (undefined where none arrives).
  std::vector<Tensor> run_to(const std::vector<Tensor>& targets) {
    std::unordered_map<const Node*, Tensor> found;
    for (const Tensor& target : targets) found[target.history().get()];
    mark_paths_to(found);
    run([&](Visit& visit) {
      if (auto at = found.find(visit.node.get()); at != found.end()) at->second = visit.gradient;
    });
    std::vector<Tensor> gradients;
    for (const Tensor& target : targets) gradients.push_back(found[target.history().get()]);
    return gradients;
  }

 private:
  static constexpr std::size_t none = -1;

  struct Visit {
    std::shared_ptr<Node> node;
    Tensor gradient;
    std::size_t first_input = 0;  // in input_visits_
    bool wanted = true;
    Tensor take() { return std::exchange(gradient, Tensor()); }
  };

  /// Visits all nodes from `root` down, breadth first: visits_ itself is the queue. Returns the
  /// root's place in it.
  std::size_t gather(const std::shared_ptr<Node>& root) {
    std::size_t next = visits_.size();
    const std::size_t place = enter(root);
    for (; next < visits_.size(); ++next) {
      visits_[next].first_input = input_visits_.size();
      for (const auto& input : visits_[next].node->inputs())
        input_visits_.push_back(input && input->number() >= lowest_ ? enter(input) : none);
    }
    return place;
  }

  std::size_t enter(const std::shared_ptr<Node>& node) {
    const auto [at, entered] = index_.try_emplace(node.get(), visits_.size());
    if (entered) visits_.emplace_back().node = node;
    return at->second;
  }

  /// Places of the visits, users before inputs.
  std::vector<std::size_t> order() const {
    std::vector<std::pair<std::uint64_t, std::size_t>> numbers;
    numbers.reserve(visits_.size());
    for (std::size_t i = 0; i < visits_.size(); ++i)
      numbers.emplace_back(visits_[i].node->number(), i);
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    std::vector<std::size_t> order;
    order.reserve(visits_.size());
    for (const auto& [number, place] : numbers) order.push_back(place);
    return order;
  }

  void mark_paths_to(const std::unordered_map<const Node*, Tensor>& targets) {
    const std::vector<std::size_t> from_users = order();
    for (auto i = from_users.rbegin(); i != from_users.rend(); ++i) {
      Visit& visit = visits_[*i];
      visit.wanted = targets.contains(visit.node.get());
      for (std::size_t k = 0; k < visit.node->inputs().size(); ++k) {
        const std::size_t input = input_visits_[visit.first_input + k];
        visit.wanted = visit.wanted || (input != none && visits_[input].wanted);
      }
    }
  }

  template <class Arrived>
  void run(const Arrived& arrived) {
    GradMode mode(create_graph_);
    for (const std::size_t i : order()) {
      Visit& visit = visits_[i];
      if (!visit.wanted || !visit.gradient.defined()) continue;
      if (visit.node->has_hooks()) call_hooks(visit);
      arrived(visit);
      if (!visit.gradient.defined()) continue;
      current_ = &visit;
      visit.node->backward(visit.gradient, *this);
      visit.gradient = Tensor();
      if (!retain_graph_) visit.node->release();
    }
  }

  static void call_hooks(Visit& visit) {
    const std::vector<Hook> hooks = visit.node->hooks();  // a hook may register another
    for (const Hook& hook : hooks) {
      const Tensor replaced = hook(visit.gradient);
      if (!replaced.defined()) continue;
      const Node& node = *visit.node;
      LADON_CHECK(replaced.shape() == node.shape() && replaced.dtype() == node.dtype(), "hook",
                  "returned a gradient of ", replaced.dtype(), " ", replaced.shape(),
                  " for a tensor of ", node.dtype(), " ", node.shape());
      visit.gradient = replaced;
    }
  }

  bool needs(std::size_t input) const override {
    const std::size_t place = input_visits_[current_->first_input + input];
    return place != none && visits_[place].wanted;
  }

  void give(std::size_t input, Tensor gradient) override {
    if (!gradient.defined() || !needs(input)) return;
    if (detecting) check_finite(gradient);
    Visit& visit = visits_[input_visits_[current_->first_input + input]];
    if (gradient.dtype() != visit.node->dtype())
      gradient = ladon::cast(gradient, visit.node->dtype());
    if (!(gradient.shape() == visit.node->shape()))
      gradient = sum_to(gradient, visit.node->shape());
    accumulate(visit, std::move(gradient));
  }

  static void accumulate(Visit& visit, Tensor gradient) {
    if (!visit.gradient.defined())
      visit.gradient = std::move(gradient);
    else
      visit.gradient = add(visit.gradient, gradient);
  }

  void check_finite(const Tensor& g) const {
    const Tensor bad = kernels::compare(kernels::Compare::ne, g, g);
    const Tensor any = kernels::reduce(kernels::Reduce::any, bad, all_axes(g), false);
    LADON_CHECK(!any.item<bool>(), "anomaly", "the gradient of `", current_->node->operation(),
                "` (shape ", current_->node->shape(), ") contains NaN");
  }
  static std::vector<int> all_axes(const Tensor& x) {
    std::vector<int> axes;
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
    return axes;
  }

  std::vector<Visit> visits_;
  std::vector<std::size_t> input_visits_;  // of all visits, one after the other
  std::unordered_map<const Node*, std::size_t> index_;
  Visit* current_ = nullptr;
  std::uint64_t lowest_;
  bool retain_graph_, create_graph_;
};

Tensor checked_cotangent(const char* operation, const Tensor& output, const Tensor& cotangent) {
  LADON_CHECK(output.requires_grad(), operation, "the output (shape ", output.shape(),
              ") records no history: no input requires a gradient, "
              "or it was computed under NoGrad");
  if (!cotangent.defined()) {
    LADON_CHECK(output.count() == 1, operation, "the output has shape ", output.shape(),
                "; without a cotangent it must have one element");
    return ones_like(output);
  }
  LADON_CHECK(cotangent.shape() == output.shape() && cotangent.dtype() == output.dtype(), operation,
              "the cotangent is ", cotangent.dtype(), " of shape ", cotangent.shape(),
              ", the output ", output.dtype(), " of shape ", output.shape());
  return cotangent;
}

}  // namespace

void backward(const Tensor& loss, BackwardOptions options) { backward(loss, Tensor(), options); }

void backward(const Tensor& output, const Tensor& cotangent, BackwardOptions options) {
  const Tensor seed = checked_cotangent("backward", output, cotangent);
  Sweep sweep(options.retain_graph, options.create_graph);
  sweep.seed(output, seed);
  sweep.run_to_leaves();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  LADON_CHECK(options.cotangents.empty() || options.cotangents.size() == outputs.size(), "grad",
              "there are ", outputs.size(), " outputs but ", options.cotangents.size(),
              " cotangents");
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();  // no way to an input below it
  for (const Tensor& input : inputs) {
    LADON_CHECK(input.requires_grad(), "grad", "an input of shape ", input.shape(),
                " does not require a gradient; call set_requires_grad() before it is used");
    lowest = std::min(lowest, input.history()->number());
  }
  Sweep sweep(options.retain_graph, options.create_graph, lowest);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor cotangent = options.cotangents.empty() ? Tensor() : options.cotangents[i];
    sweep.seed(outputs[i], checked_cotangent("grad", outputs[i], cotangent));
  }
  std::vector<Tensor> gradients = sweep.run_to(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    LADON_CHECK(options.allow_unused || gradients[i].defined(), "grad",
                "no output depends on input ", i, " (shape ", inputs[i].shape(),
                "); pass allow_unused = true to get an undefined gradient");
  return gradients;
}

Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options) {
  return grad(std::vector<Tensor>{output}, std::vector<Tensor>{input}, options)[0];
}

void register_hook(const Tensor& x, Hook hook) {
  LADON_CHECK(x.requires_grad(), "register_hook", "the tensor records no history");
  LADON_CHECK(static_cast<bool>(hook), "register_hook", "the hook is empty");
  x.history()->hooks().push_back(std::move(hook));
}

}  // namespace ladon
