#include "ladon/autograd/inner_graph.h"

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

}  // namespace ladon::detail
