#include "ladon/autograd/record.h"

#include <algorithm>
#include <atomic>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/observer.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/reads.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

std::atomic<std::uint64_t> next_number{0};

// Nodes of this thread that wait to be destroyed; null if there are none. The list is held by a
// plain pointer, which has no destructor, because a static tensor may be destroyed after those
// variables of the thread that have destructors.
thread_local std::vector<std::shared_ptr<detail::Node>>* graveyard = nullptr;
thread_local bool draining = false;

bool differentiated(const Tensor& x) {
  return (x.requires_grad() && grad_enabled()) || detail::visible(x) != nullptr;
}

template <class Inputs, class Of>
detail::Origins origins_of(const Inputs& inputs, const Of& of) {
  detail::Origins result;
  const bool dual = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
    return detail::visible(of(input)) != nullptr;
  });
  for (const auto& input : inputs) {
    result.recorded = result.recorded || (of(input).requires_grad() && grad_enabled());
    if (dual) result.tangents.push_back(detail::visible(of(input)));
  }
  return result;
}

}  // namespace

detail::Node::Node(const char* operation, const Tensor& output)
    : operation_(operation),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)),
      levels_(output.levels()),
      shape_(output.shape()),
      dtype_(output.dtype()) {
  if (Observer* observer = Observer::current()) [[unlikely]]
    observer->observe(*this, output);
}

detail::Node::~Node() { drain(); }

std::uint64_t detail::Node::add_hook(std::function<Tensor(const Tensor&)> hook) {
  if (!hooks_) hooks_ = std::make_unique<Hooks>();
  static std::atomic<std::uint64_t> next{0};  // ids are never reused: a handle refers to one hook
                                              // only
  const std::uint64_t id = next.fetch_add(1, std::memory_order_relaxed);
  hooks_->emplace(id, std::move(hook));
  return id;
}

void detail::Node::bury(std::span<std::shared_ptr<detail::Node>> nodes) {
  for (auto& node : nodes) {
    if (!node) continue;
    if (node.use_count() > 1) {  // another owner keeps the node alive
      node.reset();
      continue;
    }
    if (!graveyard) graveyard = new std::vector<std::shared_ptr<detail::Node>>;
    graveyard->push_back(std::move(node));
  }
}

void detail::Node::drain() {
  if (!graveyard || draining) return;
  draining = true;
  while (!graveyard->empty()) {
    const std::shared_ptr<detail::Node> node = std::move(graveyard->back());
    graveyard->pop_back();
  }
  delete std::exchange(graveyard, nullptr);
  draining = false;
}

Tensor detail::Node::forward(std::size_t, const Tensor&) { return Tensor(); }

bool recorded(std::initializer_list<detail::Input> inputs) {
  if (detail::RecordReads* reads = detail::modes.watchers.reads) [[unlikely]]
    for (const detail::Input& input : inputs) reads->note(*input.tensor);
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const detail::Input& input) { return differentiated(*input.tensor); });
}

bool recorded(std::span<const Tensor> inputs) {
  if (detail::RecordReads* reads = detail::modes.watchers.reads) [[unlikely]]
    for (const Tensor& input : inputs) reads->note(input);
  return std::any_of(inputs.begin(), inputs.end(), differentiated);
}

namespace detail {

Origins origins(std::initializer_list<Input> inputs) {
  return origins_of(inputs, [](const Input& x) -> const Tensor& { return *x.tensor; });
}
Origins origins(std::span<const Tensor> inputs) {
  return origins_of(inputs, [](const Tensor& x) -> const Tensor& { return x; });
}

void attach(Tensor& y, const std::shared_ptr<Node>& node, Origins origins) {
  if (origins.recorded) y.set_history(node);
  if (origins.tangents.empty()) return;
  node->keep_tangents(std::move(origins.tangents));  // push_forward may call a rule that reads y
                                                     // with its tangents of lower levels
  y.set_tangent(push_forward(*node, node->tangents()));
  node->add_levels(levels_of(y));
  if (!origins.recorded) node->keep_tangents({});
}

Tensor as_output(const Node& node, const Tensor& t) {
  return expand(cast(t, node.dtype()), node.shape());
}

Tensor SavedOutput::attached(detail::Node& node) const {
  Tensor y = *saved_;
  const auto inputs = node.inputs();  // all null if no input requires a gradient
  const bool recorded =
      std::any_of(inputs.begin(), inputs.end(), [](const auto& input) { return input != nullptr; });
  if (recorded && grad_enabled()) y.set_history(node.shared_from_this());
  y.set_tangent(push_forward(node, node.tangents()));
  return y;
}

void throw_freed(const char* operation) {
  detail::fail("backward", "the graph at `", operation,
               "` was already freed by an earlier backward pass; pass retain_graph = true to the "
               "first pass if you need a second one");
}

}  // namespace detail

}  // namespace ladon
