#include "ladon/layers/layer.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <typeinfo>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/observer.h"
#include "ladon/core/machine/warning.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/masked.h"

namespace ladon {

Tensor Layer::operator()(const Tensor& x, const Tensor& mask) const {
  return called([this, &x, &mask] {
    check_mask(x, mask);
    return forward_masked(detail::blank_masked(x, mask), mask);
  });
}

void Layer::check_mask(const Tensor& x, const Tensor& mask) const {
  if (!mask.defined()) return;
  LADON_CHECK(x.defined(), describe(), "the input is an undefined tensor");
  const int positions = x.rank() - (is_floating(x.dtype()) ? 2 : 1);  // number of axes of positions
  LADON_CHECK(positions > 0, describe(), "got a second tensor, ", mask.dtype(), " ", mask.shape(),
              ", which must be a mask of positions; but the inputs ", x.shape(),
              " have no positions. A model of two inputs must derive from Callable and define "
              "forward(x, y)");
  const Shape expected = detail::mask_shape(x);
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == expected, describe(),
              "the mask must be bool ", expected, ", one element per position of inputs ",
              x.shape(), ", true = token; got ", mask.dtype(), " ", mask.shape());
}

void detail::warn_of_precision(const char* layer, const Tensor& x, const Tensor& weight) {
  if (!x.defined() || !weight.defined() || x.dtype() != f64 || weight.dtype() != f32) return;
  static std::mutex mutex;
  static std::set<std::string> told;
  const std::lock_guard lock(mutex);
  if (!told.insert(layer).second) return;
  warn(layer, join("the input ", x.shape(),
                   " is f64 and the weights are f32, so everything is computed in f64, at twice "
                   "the cost; pass cast(x, f32), or call model.to(f64) if that is intended"));
}

Tensor Layer::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_mask(x, mask);
  LADON_CHECK(
      !mask.defined() || per_position(), "forward_masked", describe(),
      " got a mask of padding, but does not support one: override its forward_masked, or its "
      "per_position() if the layer does not mix positions");
  return detail::settled([this](const Tensor& seen) { return forward(seen); }, x, mask);
}

std::string Layer::summary(const Tensor& x) const {
  const EnableGrad enable_grad;
  std::string table = summary();
  for (const std::string& line : unlisted((*this)(x), {x})) table += line + '\n';
  return table;
}

HookHandle Layer::register_forward_hook(ForwardHook hook) {
  LADON_CHECK(static_cast<bool>(hook), "register_forward_hook",
              "the hook must be a function, but it is empty");
  if (!hooks_.list) hooks_.list = std::make_shared<std::map<std::uint64_t, ForwardHook>>();
  static std::atomic<std::uint64_t> next{0};
  const std::uint64_t id = next.fetch_add(1, std::memory_order_relaxed);
  hooks_.list->emplace(id, std::move(hook));
  return HookHandle([list = std::weak_ptr(hooks_.list), id] {
    if (const auto alive = list.lock()) alive->erase(id);
  });
}

Tensor Layer::Hooks::run(Tensor y) const {
  const std::map<std::uint64_t, ForwardHook> now = *list;  // a copy: a hook may add or remove hooks
  for (const auto& [id, hook] : now)
    if (const Tensor replaced = hook(y); replaced.defined()) y = replaced;
  return y;
}

namespace {

// The layer calls that run on this thread, and the origin of the Error that is being propagated.
thread_local int depth = 0;
thread_local const Layer* outermost = nullptr;
thread_local std::exception_ptr thrown;         // kept alive, so that its address is not reused
thread_local const Layer* thrown_by = nullptr;  // may be destroyed before its path is looked up
thread_local std::string thrown_in;

/// Path to this layer: the outermost layer being called, then the names of members.
std::vector<std::string> place_of(const Layer& layer) {
  std::vector<std::string> place{outermost->describe()};
  if (&layer == outermost) return place;
  const std::optional<std::string> path = outermost->path_of(layer);
  if (!path) place.push_back(layer.describe());  // no visit() lists it
  std::istringstream members(path.value_or(""));
  for (std::string member; std::getline(members, member, '.');) place.push_back(member);
  return place;
}

}  // namespace

Layer::Call::Call(const Layer& layer) : layer_(layer) {
  detail::check_nesting("forward", depth);
  if (depth == 0) outermost = &layer;
  if (detail::Observer* observer = detail::Observer::current()) [[unlikely]]
    observer->enter(depth, place_of(layer));
  ++depth;
}

Layer::Call::~Call() {
  --depth;
  if (detail::Observer* observer = detail::Observer::current()) [[unlikely]]
    observer->leave(depth);
}

void Layer::Call::explain(const Error& error) const {
  if (std::exception_ptr now = std::current_exception(); now != thrown) {
    thrown = std::move(now);
    thrown_by = &layer_;
    thrown_in = layer_.describe();
  }
  if (depth > 1) throw;
  thrown = nullptr;
  // An exception derived from Error keeps its type, so its text cannot be extended.
  if (thrown_by == &layer_ || typeid(error) != typeid(Error)) throw;
  const std::optional<std::string> path = layer_.path_of(*thrown_by);
  throw Error(path.value_or(thrown_in) + ": " + error.what());
}

infinite::KernelNode Layer::limit(const infinite::KernelNode&) const {
  detail::fail(
      "limit",
      describe() +
          " has no limit in closed form for infinite width; estimate its kernel from finite "
          "networks with infinite::monte_carlo_kernel");
}

infinite::KernelNode Layer::operator()(const infinite::KernelNode& inputs) const {
  const Call call(*this);
  try {
    const std::shared_ptr<infinite::KernelGraph> graph = inputs.owner();
    const std::size_t begin = graph->steps().size();
    const infinite::KernelNode y = limit(inputs);
    graph->name(begin, this);
    return y;
  } catch (const Error& error) {
    call.explain(error);
  }
}

}  // namespace ladon
