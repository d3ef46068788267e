// ParticleMethod::act_on: forces between outputs of heads or models.

#include <algorithm>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/optim/particles/method.h"

namespace ladon {
namespace {

/// Permutation that moves `axis` to the front: [M, ...]. back() is its inverse.
std::vector<int> axis_first(int rank, int axis) {
  std::vector<int> order = {axis};
  for (int a = 0; a < rank; ++a)
    if (a != axis) order.push_back(a);
  return order;
}
std::vector<int> back(const std::vector<int>& order) {
  std::vector<int> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[order[i]] = static_cast<int>(i);
  return inverse;
}

}  // namespace

Tensor ParticleMethod::rewrite(const std::string& name, const Tensor& x, const Tensor& gradient,
                               int axis) {
  const NoGrad off;
  const std::vector<int> order = axis_first(x.rank(), axis);
  const Tensor first = permute(x, order);
  const std::int64_t m = first.size(0), d = x.count() / m;
  const auto rows = [&](const Tensor& y) {
    return contiguous(reshape(contiguous(permute(y, order)), {m, d}));
  };
  Acted acted{name, rows(x), {}};
  const Tensor force = direction(name, acted.theta, rows(gradient), acted.last);
  const auto same = std::find_if(acted_.begin(), acted_.end(),
                                 [&](const Acted& other) { return other.name == name; });
  (same == acted_.end() ? acted_.emplace_back() : *same) = std::move(acted);
  return contiguous(permute(reshape(force, first.shape()), back(order)));
}

HookHandle ParticleMethod::act_on(const Tensor& x, int axis, std::string name) {
  LADON_CHECK(x.defined() && axis >= 0 && axis < x.rank(), "act_on",
              "the axis must be at least 0 and less than the rank, but axis ", axis,
              " is out of range for `", name, "`, which ",
              x.defined() ? detail::join("has shape ", x.shape()) : "is an undefined tensor");
  LADON_CHECK(x.count() > 0, "act_on", "`", name,
              "` must have at least one element, but its shape is ", x.shape());
  LADON_CHECK(!has_noise(), "act_on", "the noise of ", this->name(),
              " must be added to parameters, not to an intermediate result; use Svgd, or "
              "diffusion = 0");
  return register_hook(x, [self = std::weak_ptr(self_), method = this->name(), axis,
                           name = std::move(name), values = x.detach()](const Tensor& gradient) {
    const auto alive = self.lock();
    LADON_CHECK(alive, "act_on", "the ", method, " that acts on `", name,
                "` was destroyed before backward(); keep the method until backward() has ended, or "
                "remove() its hook");
    return alive->rewrite(name, values, gradient, axis);
  });
}

}  // namespace ladon
