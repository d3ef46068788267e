#include "ladon/autograd/ops/norm.h"

#include <cmath>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/norm.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

using kernels::Binary;
using kernels::Unary;

void check_norm(const char* operation, const Tensor& x, const Tensor& weight, const Tensor& bias,
                double eps) {
  check_floating(operation, x);
  LADON_CHECK(x.rank() >= 1, operation, "needs at least one axis, got a tensor of shape ",
              x.shape());
  LADON_CHECK(eps >= 0, operation, "eps is ", eps, "; it must not be negative");
  for (const Tensor* p : {&weight, &bias})
    LADON_CHECK(!p->defined() || p->shape() == Shape{x.size(-1)}, operation,
                "weight and bias need one element per element of the last axis of x: it has size ",
                x.size(-1), ", but the ", p == &weight ? "weight" : "bias", " has shape ",
                p->shape());
}

/// The largest power of two that is at most r = 1/stddev and small enough that its product with the
/// mean mu stays in the dtype's range.
Tensor unit_of(const Tensor& r, const Tensor& mu) {
  const double bound = mu.dtype() == f32 ? 0x1p100 : 0x1p1000;
  const Tensor limit = kernels::binary(Binary::div, bound, kernels::unary(Unary::abs, mu));
  return kernels::power_of_two(kernels::binary(Binary::minimum, r, limit));
}

/// The gradients of layer_norm (axis −1) and normalize_batch (axis 0), in differentiable
/// operations, from the gradient g of the output, the mean mu, r = 1/sqrt(var + eps), and the
/// weight w. The gradients of weight and bias are not yet summed over the rows: the backward pass
/// does that.
kernels::LayerNormGradients norm_gradients(const Tensor& g, const Tensor& x, const Tensor& mu,
                                           const Tensor& r, const Tensor& w, double eps, int axis) {
  if (x.size(-1) == 0)
    return {g, g, g};  // empty tensors; there may be very many rows, for which no statistics are
                       // allocated
  // x is scaled by a power of two s, and the rounded mean is subtracted first; both are constants
  // in gradients. Thus all values stay in range, and deviations from the mean keep their precision.
  Tensor s = unit_of(r, mu);
  Tensor shifted = x * s - kernels::binary(Binary::mul, mu, s);
  // A large mean makes s much smaller than r. The deviations are then scaled up: otherwise eps·s²
  // could underflow, and the derivatives of rstd = r/s overflow.
  const Tensor ratio = kernels::binary(Binary::div, r, s);
  if (!kernels::all_within(ratio, 1, 2)) {
    const Tensor up = kernels::power_of_two(ratio);
    shifted = shifted * up;
    s = kernels::binary(Binary::mul, s, up);
  }
  const Tensor centred = shifted - mean(shifted, axis, keep_dims);
  const Tensor rstd = rsqrt(mean(square(centred), axis, keep_dims) + eps * s * s);
  const Tensor h = centred * rstd;
  const Tensor dh = w.defined() ? g * w : g;
  // dx = r·(dh − mean(dh) − h·mean(dh ∘ h))
  return {rstd * s * (dh - mean(dh, axis, keep_dims) - h * mean(dh * h, axis, keep_dims)), g * h,
          g};
}

Tensor cast_if_defined(const Tensor& x, DType dtype) { return x.defined() ? cast(x, dtype) : x; }

}  // namespace

// y = h ∘ w + b,  h = (x − mean)·r,  r = 1/sqrt(var + eps), over the last axis.
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check_norm("layer_norm", x, weight, bias, eps);
  const Tensor w = cast_if_defined(weight, x.dtype()), b = cast_if_defined(bias, x.dtype());
  const kernels::LayerNormResult f = kernels::layer_norm(x, w, b, eps);
  return record_joint("layer_norm", f.y, {x, w, b},
                      [x = saved(x), w = saved(w), b = b.defined(), mu = f.mean, r = f.rstd, eps](
                          const Tensor& g, detail::GradientSink& sink) {
                        const kernels::LayerNormGradients d = fast_or_composed(
                            "layer_norm_gradient", {g, *x, *w},
                            [&] { return kernels::layer_norm_backward(g, *x, mu, r, *w, b); },
                            [&] { return norm_gradients(g, *x, mu, r, *w, eps, -1); });
                        sink.give(0, d.x);
                        sink.give(1, d.weight);
                        sink.give(2, d.bias);
                      });
}

namespace {

/// x/sqrt(mean(x²) + eps) where squares of x overflow or underflow, computed as
/// h·rsqrt(mean(h²) + eps/p²) with h = x/p and a power of two p per row. The result does not depend
/// on p, so p is a constant in gradients.
Tensor rms_scaled(const Tensor& x, double eps) {
  const Tensor p = kernels::scale_of(x, {x.rank() - 1}, std::sqrt(eps));
  const Tensor h = x / p;
  return h * rsqrt(mean(square(h), -1, keep_dims) + eps / p / p);
}

}  // namespace

// y = x·r ∘ w,  r = 1/sqrt(mean(x²) + eps), over the last axis.
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check_norm("rms_norm", x, weight, {}, eps);
  if (x.size(-1) == 0) return weight.defined() ? x * cast(weight, x.dtype()) : x;
  const Tensor w = cast_if_defined(weight, x.dtype());
  const kernels::RmsNormResult f = kernels::rms_norm(x, w, eps);
  const double bound = x.dtype() == f32 ? 0x1p20 : 0x1p150;  // bound⁵ does not overflow
  if (!kernels::all_within(f.r, 1 / bound, bound))
    return w.defined() ? rms_scaled(x, eps) * w : rms_scaled(x, eps);
  const auto rule = [x = saved(x), w = saved(w), r = f.r, eps](const Tensor& g,
                                                               detail::GradientSink& sink) {
    const kernels::LayerNormGradients d = fast_or_composed(
        "rms_norm_gradient", {g, *x, *w}, [&] { return kernels::rms_norm_backward(g, *x, r, *w); },
        [&] {
          const Tensor factor = rsqrt(mean(square(*x), -1, keep_dims) + eps), h = *x * factor;
          const Tensor dh = w->defined() ? g * *w : g;
          // dx = r·(dh − h·mean(dh ∘ h))
          return kernels::LayerNormGradients{
              factor * (dh - h * mean(dh * h, -1, keep_dims)), g * h, {}};
        });
    sink.give(0, d.x);
    sink.give(1, d.weight);
  };
  return record_joint("rms_norm", f.y, {x, w}, rule);
}

// y = (x − mean)·r ∘ w + b,  r = 1/sqrt(var + eps).
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                  const Tensor& bias, double eps) {
  check_norm("batch_norm", x, weight, bias, eps);
  check_defined("batch_norm", {mean, var});
  for (const Tensor* p : {&mean, &var})
    LADON_CHECK(p->shape() == Shape{x.size(-1)}, "batch_norm",
                "mean and variance need one element per channel, but x has ", x.size(-1),
                " channels, and the ", p == &mean ? "mean" : "variance", " has shape ", p->shape());
  const Tensor r = rsqrt(cast(var, x.dtype()) + eps);
  const double most = x.dtype() == f64 ? 1e100 : 1e12;  // below it r³, which occurs in the
                                                        // derivative of r, is finite
  if (any(greater(mapped::show(r), most)).item<bool>()) {
    Tensor y = (x - cast(mean, x.dtype())) / sqrt(cast(var, x.dtype()) + eps);
    if (weight.defined()) y = y * cast(weight, x.dtype());
    return bias.defined() ? y + cast(bias, x.dtype()) : y;
  }
  const Tensor scale = weight.defined() ? r * cast(weight, x.dtype()) : r;
  const Tensor y = (x - cast(mean, x.dtype())) * scale;
  return bias.defined() ? y + cast(bias, x.dtype()) : y;
}

// y = h ∘ w + b,  h = (x − mean)·r,  r = 1/sqrt(var + eps), over all axes but the last, which are
// merged into R rows:  x [.., C] → [R, C].
NormalizedBatch normalize_batch(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                double eps) {
  check_norm("normalize_batch", x, weight, bias, eps);
  const Tensor w = cast_if_defined(weight, x.dtype()), b = cast_if_defined(bias, x.dtype());
  const Tensor rows = reshape(x, {x.shape().sub(0, x.rank() - 1).count(), x.size(-1)});
  const auto [normalized, moments] = kernels::column_norm(rows, w, b, eps);
  const auto rule = [x = saved(rows), w = saved(w), b = b.defined(), f = moments, eps](
                        const Tensor& g, detail::GradientSink& sink) {
    const auto composed = [&] {
      return norm_gradients(g, *x, unsqueeze(f.mean, 0), unsqueeze(f.rstd, 0), *w, eps, 0);
    };
    const kernels::LayerNormGradients d = fast_or_composed(
        "batch_norm_gradient", {g, *x, *w},
        [&] {
          return kernels::squares_in_range(f.rstd) ? kernels::column_norm_backward(g, *x, f, *w, b)
                                                   : composed();
        },
        composed);
    sink.give(0, d.x);
    sink.give(1, d.weight);
    sink.give(2, d.bias);
  };
  const Tensor y = record_joint("normalize_batch", normalized, {rows, w, b}, rule);
  return {reshape(y, x.shape()), moments.mean, moments.var};
}

namespace {

// The groups of each example become rows for layer_norm; with P positions and g groups of channels:
// [N, P, g, C/g] → [N·g, P·C/g].
Tensor normalized_groups(const char* operation, const Tensor& x, std::int64_t groups,
                         const Tensor& weight, const Tensor& bias, double eps) {
  check_norm(operation, x, weight, bias, eps);
  LADON_CHECK(x.rank() >= 2, operation, "expects [N, positions.., channels], got shape ",
              x.shape());
  const std::int64_t n = x.size(0), channels = x.size(-1);
  LADON_CHECK(groups > 0 && channels % groups == 0, operation, groups, " groups do not divide ",
              channels, " channels evenly");
  const std::int64_t positions = x.shape().sub(1, x.rank() - 1).count(), each = channels / groups;
  const Tensor by_group = permute(reshape(x, {n, positions, groups, each}), {0, 2, 1, 3});
  const Tensor rows = layer_norm(reshape(by_group, {n * groups, positions * each}), {}, {}, eps);
  const Tensor back = permute(reshape(rows, {n, groups, positions, each}), {0, 2, 1, 3});
  Tensor y = reshape(back, x.shape());
  if (weight.defined()) y = y * cast(weight, x.dtype());
  return bias.defined() ? y + cast(bias, x.dtype()) : y;
}

}  // namespace

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  return normalized_groups("group_norm", x, groups, weight, bias, eps);
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const std::int64_t channels = x.defined() && x.rank() > 0 ? x.size(-1) : 1;
  return normalized_groups("instance_norm", x, channels, weight, bias, eps);
}

}  // namespace ladon
