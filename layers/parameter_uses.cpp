#include "ladon/layers/parameter_uses.h"

#include <utility>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon {

void ParameterUses::report_product(const Tensor& x, const Tensor& y, double bias_scale) {
  ParameterUses* all = active();
  if (!all) return;
  all->products.push_back({x.detach(), y});
  if (bias_scale == 0) return;
  report(y, [bias_scale](const Tensor& delta) {  // [batch, .., out] → [batch, out]
    const Tensor rows = reshape(delta, {delta.size(0), -1, delta.size(-1)});
    return bias_scale * sum(rows, 1);
  });
}

// ∂/∂w = Σ_t h_t ∘ δ_t,  ∂/∂b = Σ_t δ_t, sums over positions t.
void ParameterUses::report_affine(const Tensor& h, const Tensor& y) {
  report(y, [h = h.detach()](const Tensor& delta) {  // [batch, .., d] → [batch, 2d]
    const auto rows = [&](const Tensor& t) { return reshape(t, {t.size(0), -1, t.size(-1)}); };
    return concat({sum(rows(h * delta), 1), sum(rows(delta), 1)}, 1);
  });
}

void ParameterUses::report(const Tensor& y, std::function<Tensor(const Tensor& delta)> gradient) {
  if (ParameterUses* all = active()) all->uses.push_back({y, std::move(gradient)});
}

}  // namespace ladon
