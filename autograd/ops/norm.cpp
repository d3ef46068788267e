#include "ladon/autograd/ops/norm.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/norm.h"

namespace ladon {
namespace {

void check_norm(const char* operation, const Tensor& x, const Tensor& weight, const Tensor& bias,
                double eps) {
  check_floating(operation, x);
  LADON_CHECK(x.rank() >= 1, operation, "needs at least one axis, got a tensor of shape ",
              x.shape());
  LADON_CHECK(eps >= 0, operation, "eps is ", eps, "; it must not be negative");
  for (const Tensor* p : {&weight, &bias})
    LADON_CHECK(!p->defined() || p->shape() == Shape{x.size(-1)}, operation, "the rows have ",
                x.size(-1), " elements, the ", p == &weight ? "weight" : "bias", " has shape ",
                p->shape());
}

Tensor cast_if_defined(const Tensor& x, DType dtype) { return x.defined() ? cast(x, dtype) : x; }

}  // namespace

// y = h ∘ w + b,  h = (x − mean)·r,  r = 1/sqrt(var + eps), over the last axis.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_norm("layer_norm", x, weight, bias, eps);
  const Tensor w = cast_if_defined(weight, x.dtype()), b = cast_if_defined(bias, x.dtype());
  const kernels::LayerNormResult f = kernels::layer_norm(x, w, b, eps);
  return record_joint(
      "layer_norm", f.y, {x, w, b},
      [x = saved(x), w = saved(w), b = b.defined(), mu = f.mean, r = f.rstd, eps](
          const Tensor& g, GradientSink& sink) {
        if (!grad_enabled()) {
          const kernels::LayerNormGradients d = kernels::layer_norm_backward(g, *x, mu, r, *w, b);
          sink.give(0, d.x);
          sink.give(1, d.weight);
          sink.give(2, d.bias);
          return;
        }
        const Tensor centred = *x - mean(*x, -1, keep_dims);
        const Tensor rstd = rsqrt(mean(square(centred), -1, keep_dims) + eps);
        const Tensor h = centred * rstd;
        const Tensor dh = w->defined() ? g * *w : g;
        // dx = r·(dh − mean(dh) − h·mean(dh ∘ h))
        sink.give(0, rstd * (dh - mean(dh, -1, keep_dims) - h * mean(dh * h, -1, keep_dims)));
        sink.give(1, g * h);  // summed over the rows by the sweep
        sink.give(2, g);
      });
}

// y = x·r ∘ w,  r = 1/sqrt(mean x² + eps), over the last axis.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_norm("rms_norm", x, weight, {}, eps);
  const Tensor y = x * rsqrt(mean(square(x), -1, keep_dims) + eps);
  return weight.defined() ? y * cast(weight, x.dtype()) : y;
}

}  // namespace ladon
