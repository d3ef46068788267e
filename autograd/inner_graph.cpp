#include "ladon/autograd/inner_graph.h"

#include <memory>
#include <unordered_set>

#include "ladon/autograd/record.h"

namespace ladon::detail {

Tensor as_leaf(const Tensor& x) {
  Tensor leaf = x.detach();
  leaf.set_tangent(x.tangent());
  if (x.defined() && is_floating(x.dtype())) leaf.set_requires_grad();
  return leaf;
}

Tensor alias(const Tensor& x) {
  return record("alias", x.detach(), {x}, [](const Tensor& g) { return g; });
}

std::vector<Tensor> captured_by(const Tensor& output, const std::vector<Tensor>& known,
                                std::uint64_t first) {
  std::unordered_set<const Node*> seen;
  for (const Tensor& x : known) seen.insert(x.history().get());
  std::vector<Tensor> captured;
  std::vector<std::shared_ptr<Node>> stack{output.history()};
  while (!stack.empty()) {
    const std::shared_ptr<Node> node = std::move(stack.back());
    stack.pop_back();
    if (!node || !seen.insert(node.get()).second) continue;
    const auto inputs = node->inputs();
    if (node->number() >= first && !inputs.empty()) {
      stack.insert(stack.end(), inputs.begin(), inputs.end());
      continue;
    }
    captured.push_back(empty({}, node->dtype()));
    captured.back().set_history(node);
  }
  return captured;
}

}  // namespace ladon::detail
