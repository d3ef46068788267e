#include "ladon/autograd/graph.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "ladon/autograd/examples.h"
#include "ladon/autograd/inner_graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/observer.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/machine/warning.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"

namespace ladon {

// --- grad mode ---

bool grad_enabled() { return detail::modes.recording; }

void Saved::throw_edited() const {
  detail::fail("backward", "the gradient of `", detail::modes.sweeping,
               "` needs a tensor of shape ", tensor_.shape(), " that was edited in place: version ",
               version_, " was saved, but it now has version ", tensor_.storage().version(),
               "; edit a copy, or edit after backward");
}

// --- the backward pass ---

namespace {

/// One backward pass: gathers the nodes that the outputs depend on, sorts them by number so that
/// each operation comes before its inputs, and passes gradients from outputs to inputs. For
/// backward(sum(softmax(x))): the node of sum gets the gradient 1; its rule passes g to the node of
/// softmax (with value y), whose rule passes y∘(g − ⟨g, y⟩) to x; x is a leaf, and accumulates it.
class Sweep final : detail::GradientSink {
 public:
  /// Nodes numbered below `lowest` are left out.
  Sweep(bool retain_graph, bool create_graph, std::uint64_t lowest = 0)
      : lowest_(lowest), retain_graph_(retain_graph || create_graph), create_graph_(create_graph) {}

  void seed(const Tensor& output, const Tensor& cotangent) {
    Tensor gradient = cotangent;
    if (!create_graph_) gradient.set_history(nullptr);
    accumulate(visits_[gather(output.history())], std::move(gradient));
  }

  /// Runs the pass to all leaves, and only then adds to their gradients: if a rule or a hook
  /// throws, or if a leaf refuses the addition, all gradients stay as before.
  void run_to_leaves() {
    for (Visit& visit : visits_)
      if (const Leaf* leaf = visit.leaf()) {
        visit.wanted = !leaf->frozen();
        if (visit.wanted) leaf->check_own_gradient("backward");
      }
    std::vector<std::pair<Leaf*, Tensor>> found;
    run([&found](Visit& visit) {
      call_hooks(visit);
      Leaf* leaf = visit.leaf();
      if (!leaf) return;
      found.emplace_back(leaf, detail::repeat_examples(visit.take(), leaf->levels()));
      leaf->check_accumulates(found.back().second);
    });
    const GradMode mode(create_graph_);
    for (auto& [leaf, gradient] : found) leaf->accumulate(std::move(gradient), create_graph_);
  }

  /// Runs the pass to `targets` only and returns their gradients (undefined for a target on which
  /// no output depends). With `ends` the pass stops at each target, even if the target depends on
  /// other targets, and does not call the hooks of targets.
  std::vector<Tensor> run_to(const std::vector<Tensor>& targets, bool ends = false) {
    std::unordered_map<const detail::Node*, Tensor> found;
    for (const Tensor& target : targets) found[target.history().get()];
    mark_paths_to(found);
    run([&](Visit& visit) {
      const auto at = found.find(visit.node.get());
      if (!ends || at == found.end()) call_hooks(visit);
      if (at != found.end()) at->second = ends ? visit.take() : visit.gradient;
    });
    std::vector<Tensor> gradients;
    for (const Tensor& target : targets) gradients.push_back(found[target.history().get()]);
    return gradients;
  }

 private:
  static constexpr std::size_t none = -1;

  struct Visit {
    std::shared_ptr<detail::Node> node;
    Tensor gradient;
    std::size_t first_input = 0;  // index in input_visits_ of the entry for the node's first input
    bool wanted = true;
    Tensor take() { return std::exchange(gradient, Tensor()); }
    /// The node as a leaf, or null. The test for inputs comes first, since it is cheaper than the
    /// cast.
    Leaf* leaf() { return node->inputs().empty() ? dynamic_cast<Leaf*>(node.get()) : nullptr; }
  };

  /// Appends `root` and all nodes that it depends on to visits_, breadth first, with visits_ itself
  /// as the queue. Returns the index of the root in visits_.
  std::size_t gather(const std::shared_ptr<detail::Node>& root) {
    std::size_t next = visits_.size();
    const std::size_t place = enter(root);
    for (; next < visits_.size(); ++next) {
      visits_[next].first_input = input_visits_.size();
      for (const auto& input : visits_[next].node->inputs())
        input_visits_.push_back(input && input->number() >= lowest_ ? enter(input) : none);
    }
    return place;
  }

  std::size_t enter(const std::shared_ptr<detail::Node>& node) {
    const auto [at, entered] = index_.try_emplace(node.get(), visits_.size());
    if (entered) visits_.emplace_back().node = node;
    return at->second;
  }

  /// Indices into visits_, in an order in which each operation comes before its inputs.
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

  void mark_paths_to(const std::unordered_map<const detail::Node*, Tensor>& targets) {
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
    const GradMode mode(create_graph_);
    // `sweeping` is the operation that Errors from inside the pass name. At the end of the pass its
    // old value, that of an outer pass, is restored.
    const detail::Bracket scope(detail::modes.sweeping, "");
    for (const std::size_t i : order()) {
      Visit& visit = visits_[i];
      if (!visit.wanted || !visit.gradient.defined()) continue;
      arrived(visit);
      if (visit.gradient.defined() && leads_on(visit)) pass_on(visit);
      visit.gradient = Tensor();
    }
  }

  /// Whether the gradient of at least one input is needed.
  bool leads_on(const Visit& visit) const {
    const std::size_t* first = input_visits_.data() + visit.first_input;
    return std::any_of(first, first + visit.node->inputs().size(),
                       [&](std::size_t at) { return at != none && visits_[at].wanted; });
  }

  void pass_on(Visit& visit) {
    current_ = &visit;
    detail::modes.sweeping = visit.node->operation();
    {
      std::shared_ptr<void> observed;
      if (detail::Observer* observer = detail::Observer::current()) [[unlikely]]
        observed = observer->during_gradient(*visit.node);
      visit.node->backward(visit.gradient, *this);
    }
    if (!retain_graph_) visit.node->release();
  }

  static void call_hooks(Visit& visit) {
    if (!visit.node->has_hooks()) return;
    const detail::Node& node = *visit.node;
    const mapped::Levels levels = mapped::running().with(node.levels());
    const detail::Node::Hooks hooks = node.hooks();  // a copy: a hook may add another
    const auto call = [&](const auto& hook) {  // with the node's vmap levels, so that each example
                                               // draws separate random numbers even after its vmap
                                               // has ended
      const mapped::Scope scope(levels);
      return hook(visit.gradient);
    };
    for (const auto& [id, hook] : hooks) {
      const Tensor replaced = call(hook);
      if (!replaced.defined()) continue;
      LADON_CHECK(replaced.shape() == node.shape() && replaced.dtype() == node.dtype(), "hook",
                  "must return a gradient of the tensor's dtype and shape, but returned a gradient "
                  "of ",
                  replaced.dtype(), " ", replaced.shape(), " for a tensor of ", node.dtype(), " ",
                  node.shape());
      LADON_CHECK(
          levels.contains(replaced.levels()), "hook", "returned gradients of ", replaced.examples(),
          " examples for a tensor that is the same for all of them; register the hook on a tensor "
          "that differs between the examples");
      visit.gradient = detail::repeat_examples(replaced, node.levels());
    }
  }

  bool needs(std::size_t input) const override {
    const std::size_t inputs = current_->node->inputs().size();
    LADON_CHECK(input < inputs, current_->node->operation(), "its gradient rule uses input ", input,
                ", but only ", inputs,
                " inputs were recorded, numbered from 0; record all of them");
    const std::size_t place = input_visits_[current_->first_input + input];
    return place != none && visits_[place].wanted;
  }

  Visit& visit_of(std::size_t input) {
    return visits_[input_visits_[current_->first_input + input]];
  }

  void give(std::size_t input, Tensor gradient) override {
    if (!gradient.defined() || !needs(input)) return;
    if (detail::modes.detecting) check_finite(gradient);
    Visit& visit = visit_of(input);
    if (gradient.dtype() != visit.node->dtype())
      gradient = ladon::cast(gradient, visit.node->dtype());
    if (!(gradient.shape() == visit.node->shape())) {
      check_sums_to(gradient.shape(), input, visit.node->shape());
      gradient = sum_to(gradient, visit.node->shape());
    }
    if (gradient.mapped() || gradient.tangent())
      gradient = detail::sum_examples(std::move(gradient), visit.node->levels());
    accumulate(visit, std::move(gradient));
  }

  /// Adds in place to the gradient of the input, if no other tensor shares its memory.
  bool give_part(std::size_t input, const Tensor& part, const Window& window) override {
    Visit& visit = visit_of(input);
    Tensor& sum = visit.gradient;
    if (create_graph_ || detail::modes.detecting || part.mapped() || part.tangent()) return false;
    if (!sum.defined()) {
      sum = zeros(visit.node->shape(), visit.node->dtype());
      kernels::copy(window(sum), part);
      return true;
    }
    if (!sum.storage().exclusive() || !sum.contiguous() || sum.mapped() || sum.tangent())
      return false;
    kernels::edit(kernels::Binary::add, window(sum), part);
    return true;
  }

  /// Throws Error unless the gradient has the shape of the input, or a shape that the input
  /// broadcasts to.
  void check_sums_to(const Shape& gradient, std::size_t input, const Shape& shape) const {
    bool fits = gradient.rank() >= shape.rank();
    for (int i = 1; fits && i <= shape.rank(); ++i) {
      const std::int64_t size = shape[shape.rank() - i];
      fits = size == 1 || size == gradient[gradient.rank() - i];
    }
    LADON_CHECK(fits, current_->node->operation(), "its gradient for input ", input, " has shape ",
                gradient, ", but the input has shape ", shape,
                "; its gradient rule must return that shape");
  }

  static void accumulate(Visit& visit, Tensor gradient) {
    if (!visit.gradient.defined())
      visit.gradient = std::move(gradient);
    else
      visit.gradient = add(visit.gradient, gradient);
  }

  void check_finite(const Tensor& g) const {
    const Tensor bad = kernels::compare(kernels::Compare::ne, g, g);
    LADON_CHECK(
        !kernels::anywhere(bad), "anomaly", "the gradient of `", current_->node->operation(),
        "` (shape ", current_->node->shape(),
        ") contains NaN; look there for 0/0, the logarithm or the root of 0, or a diverged loss");
  }

  std::vector<Visit> visits_;
  std::vector<std::size_t> input_visits_;  // indices of the inputs of all visits, concatenated
  std::unordered_map<const detail::Node*, std::size_t> index_;
  Visit* current_ = nullptr;
  std::uint64_t lowest_;
  bool retain_graph_, create_graph_;
};

Tensor checked_cotangent(const char* operation, const Tensor& output, const Tensor& cotangent) {
  LADON_CHECK(output.requires_grad(), operation, "the output (shape ", output.shape(),
              ") records no history: no tensor that it was computed from requires a gradient, or "
              "it was computed under NoGrad; call set_requires_grad() on the parameters first");
  if (!cotangent.defined()) {
    LADON_CHECK(output.count() == 1, operation, "the output has shape ", output.shape(),
                ", but without a cotangent it must have one element, as a sum or mean has; reduce "
                "it, or pass a cotangent of its shape");
    return ones_like(output);
  }
  LADON_CHECK(cotangent.shape() == output.shape() && cotangent.dtype() == output.dtype(), operation,
              "the cotangent must have the dtype and shape of the output, but it is ",
              cotangent.dtype(), " of shape ", cotangent.shape(), ", and the output is ",
              output.dtype(), " of shape ", output.shape());
  return cotangent;
}

}  // namespace

void backward(const Tensor& loss, BackwardOptions options) { backward(loss, Tensor(), options); }

namespace {

/// Warns, once per process, that create_graph makes leaves and graph own each other.
void warn_of_knots() {
  static std::once_flag said;
  std::call_once(said, [] {
    detail::warn(
        "backward",
        "with create_graph the gradients of leaves own the graph, and the graph owns the leaves, "
        "so neither is freed: clear the gradients (zero_grad) after use, or call grad(..., "
        "{.create_graph = true}) instead");
  });
}

}  // namespace

void backward(const Tensor& output, const Tensor& cotangent, BackwardOptions options) {
  if (options.create_graph) warn_of_knots();
  const Tensor seed = checked_cotangent("backward", output, cotangent);
  Sweep sweep(options.retain_graph, options.create_graph);
  sweep.seed(output, seed);
  sweep.run_to_leaves();
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  LADON_CHECK(options.cotangents.empty() || options.cotangents.size() == outputs.size(), "grad",
              "there are ", outputs.size(), " outputs but ", options.cotangents.size(),
              " cotangents; pass one cotangent per output, or none");
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();  // smallest number of an
                                                                     // input's node
  for (const Tensor& input : inputs) {
    LADON_CHECK(input.requires_grad(), "grad", "an input of shape ", input.shape(),
                " does not require a gradient; call set_requires_grad() before it is used. For the "
                "argument of a function inside vmap or jvp, use vjp(f, {x}, scalar(1, x.dtype())) "
                "instead, which returns the value and the gradient");
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

std::vector<Tensor> detail::grad_up_to(const std::vector<Tensor>& ends, const Tensor& output,
                                       const Tensor& cotangent, bool create_graph) {
  Sweep sweep(true, create_graph);
  if (output.requires_grad()) sweep.seed(output, cotangent);
  return sweep.run_to(ends, true);
}

}  // namespace ladon
