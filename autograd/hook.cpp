#include "ladon/autograd/hook.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Whether a hook owns the node: copying the hook then increases the node's use count.
bool captures(const GradientHook& hook, const std::shared_ptr<detail::Node>& node) {
  const long before = node.use_count();
  const GradientHook copy = hook;
  return node.use_count() > before;
}

}  // namespace

HookHandle register_hook(const Tensor& x, GradientHook hook) {
  LADON_CHECK(x.requires_grad(), "register_hook",
              "the tensor records no history, so it gets no gradient; call set_requires_grad() "
              "before it is used");
  LADON_CHECK(static_cast<bool>(hook), "register_hook",
              "the hook is an empty function; pass a function of the gradient");
  LADON_CHECK(!captures(hook, x.history()), "register_hook",
              "the hook captures the tensor that it is registered on (shape ", x.shape(),
              "), which would own itself and never be freed; capture x.detach()");
  return HookHandle(
      [node = std::weak_ptr(x.history()), id = x.history()->add_hook(std::move(hook))] {
        if (const auto alive = node.lock()) alive->remove_hook(id);
      });
}

}  // namespace ladon
