#pragma once
// Operations that are one piecewise function (core/kernels/piecewise.h): one loop computes the
// value and one the gradient; the gradient is also given in public operations, which have
// derivatives of every order. For authors of operations (record.h); users call ops/pointwise.h and
// ops/loss.h.

#include <utility>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/record.h"
#include "ladon/core/kernels/piecewise.h"

namespace ladon {

/// y = f(x). composed(g, x) is g·f'(x):
///
///   Tensor leaky_relu(const Tensor& x, double slope) {
///     return piecewise("leaky_relu", Piecewise::leaky_relu, x, {slope},
///                      [=](auto& g, auto& u) { return where(greater(u, 0), g, slope * g); });
///   }
template <class Composed>
Tensor piecewise(const char* name, kernels::Piecewise f, const Tensor& x, kernels::Numbers p,
                 Composed composed) {
  const auto compute = [f, p](const Tensor& a) { return kernels::piecewise(f, a, p); };
  const auto rule = [f, p, composed, x = saved(x)](const Tensor& g) {
    return fast_or_composed(
        "piecewise_gradient", {g, *x},
        [f, p, &g, &x] { return kernels::piecewise_gradient(f, g, x, p); },
        [&composed, &g, &x] { return composed(g, *x); });
  };
  return record(name, in_common_dtype(name, x, f32, compute), {x}, symmetric(rule));
}

/// The loss of each prediction x and target t, of one shape and dtype. composed(g, x, t) is
/// g·∂loss/∂x. by_target(r, g, x, t) is g·∂loss/∂t; it may call r(g, x, t), which is g·∂loss/∂x.
template <class Composed, class ByTarget>
Tensor pointwise_loss(const char* name, kernels::Loss f, const Tensor& x, const Tensor& t,
                      kernels::Numbers p, Composed composed, ByTarget by_target) {
  const auto by_prediction = [f, p, composed](const Tensor& g, const Tensor& u, const Tensor& v) {
    return fast_or_composed(
        "loss_gradient", {g, u, v},
        [f, p, &g, &u, &v] { return kernels::loss_gradient(f, g, u, v, p); },
        [&composed, &g, &u, &v] { return composed(g, u, v); });
  };
  const auto rule_x = [by_prediction, x = saved(x), t = saved(t)](const Tensor& g) {
    return by_prediction(g, x, t);
  };
  const auto rule_t = [by_prediction, by_target, x = saved(x), t = saved(t)](const Tensor& g) {
    return by_target(by_prediction, g, x, t);
  };
  return record(name, kernels::loss(f, x, t, p), {x, t}, symmetric(rule_x), symmetric(rule_t));
}

}  // namespace ladon
