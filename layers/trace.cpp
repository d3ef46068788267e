#include "ladon/layers/trace.h"

#include <utility>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::trace {

void product(const Tensor& x, const Tensor& y, double bias_scale) {
  Trace* trace = Trace::active();
  if (!trace) return;
  trace->products.push_back({x.detach(), y});
  if (bias_scale == 0) return;
  use(y, [bias_scale](const Tensor& delta) {  // [batch, .., out] → [batch, out]
    const Tensor rows = reshape(delta, {delta.size(0), -1, delta.size(-1)});
    return bias_scale * sum(rows, 1);
  });
}

// ∂/∂w = Σ_t h_t ∘ δ_t,  ∂/∂b = Σ_t δ_t.
void affine(const Tensor& h, const Tensor& y) {
  use(y, [h = h.detach()](const Tensor& delta) {  // [batch, .., d] → [batch, 2d]
    const auto rows = [&](const Tensor& t) { return reshape(t, {t.size(0), -1, t.size(-1)}); };
    return concat({sum(rows(h * delta), 1), sum(rows(delta), 1)}, 1);
  });
}

void use(const Tensor& y, std::function<Tensor(const Tensor& delta)> gradient) {
  if (Trace* trace = Trace::active()) trace->uses.push_back({y, std::move(gradient)});
}

}  // namespace ladon::trace
