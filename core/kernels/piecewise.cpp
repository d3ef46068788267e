#include "ladon/core/kernels/piecewise.h"

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

void check_same_dtype(const char* operation, const Tensor& a, const Tensor& b) {
  LADON_CHECK(a.dtype() == b.dtype(), operation, "dtypes differ: ", a.dtype(), " and ", b.dtype(),
              "; convert one with cast");
}

template <class T, class>
using SameType = T;

/// y = loop(x.., p), where the operands x broadcast to y.
template <class T, class Loop, class... Tensors>
void run(Tensor& y, Loop loop, Numbers p, const Tensors&... x) {
  const NumbersOf<T> numbers{static_cast<T>(p.a), static_cast<T>(p.b)};
  const auto with_numbers = [=](auto... pieces) { loop(pieces..., numbers); };
  map<T, SameType<T, Tensors>...>(y, with_numbers, x...);
}

}  // namespace

Tensor piecewise(Piecewise f, const Tensor& x, Numbers p) {
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return piecewise(f, u, p); }, x);
  Tensor y = empty_like(x);
  visit_floating("piecewise", x.dtype(),
                 [&]<class T>() { run<T>(y, loops().of<T>().piecewise[int(f)], p, x); });
  return y;
}

Tensor piecewise_gradient(Piecewise f, const Tensor& g, const Tensor& x, Numbers p) {
  if (mapped::any(g, x)) {
    const auto alone = [=](const Tensor& u, const Tensor& v) {
      return piecewise_gradient(f, u, v, p);
    };
    return mapped::broadcast(alone, g, x);
  }
  check_same_dtype("piecewise_gradient", g, x);
  Tensor dx = empty(broadcast_shapes("piecewise_gradient", g.shape(), x.shape()), x.dtype());
  visit_floating("piecewise_gradient", x.dtype(), [&]<class T>() {
    run<T>(dx, loops().of<T>().piecewise_gradient[int(f)], p, g, x);
  });
  return dx;
}

Tensor loss(Loss f, const Tensor& x, const Tensor& t, Numbers p) {
  if (mapped::any(x, t))
    return mapped::broadcast([=](const Tensor& u, const Tensor& v) { return loss(f, u, v, p); }, x,
                             t);
  check_same_dtype("loss", x, t);
  Tensor y = empty(broadcast_shapes("loss", x.shape(), t.shape()), x.dtype());
  visit_floating("loss", x.dtype(),
                 [&]<class T>() { run<T>(y, loops().of<T>().loss[int(f)], p, x, t); });
  return y;
}

Tensor loss_gradient(Loss f, const Tensor& g, const Tensor& x, const Tensor& t, Numbers p) {
  if (mapped::any(g, x, t)) {
    const auto alone = [=](const Tensor& u, const Tensor& v, const Tensor& w) {
      return loss_gradient(f, u, v, w, p);
    };
    return mapped::broadcast(alone, g, x, t);
  }
  check_same_dtype("loss_gradient", g, x);
  check_same_dtype("loss_gradient", x, t);
  const Shape of_pairs = broadcast_shapes("loss_gradient", x.shape(), t.shape());
  Tensor dx = empty(broadcast_shapes("loss_gradient", g.shape(), of_pairs), x.dtype());
  visit_floating("loss_gradient", x.dtype(),
                 [&]<class T>() { run<T>(dx, loops().of<T>().loss_gradient[int(f)], p, g, x, t); });
  return dx;
}

}  // namespace ladon::kernels
