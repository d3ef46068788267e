#include "ladon/core/kernels/optimizer.h"

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/parallel.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t grain = 1 << 14;  // elements a task

void check_like(const char* operation, const char* what, const Tensor& y, const Tensor& x) {
  LADON_CHECK(y.shape() == x.shape() && y.dtype() == x.dtype() && y.contiguous() && x.contiguous(),
              operation, "the ", what, " (", y.dtype(), " ", y.shape(), ") and the parameter (",
              x.dtype(), " ", x.shape(), ") must be contiguous and alike");
}

}  // namespace

void sgd(Tensor x, const Tensor& g, Tensor m, const SgdStep& step) {
  check_like("sgd", "gradient", g, x);
  if (m.defined()) check_like("sgd", "momentum", m, x);
  visit_floating("sgd", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().sgd;
    T* parameter = x.mutable_data<T>();
    T* momentum = m.defined() ? m.mutable_data<T>() : nullptr;
    const T* gradient = g.data<T>();
    parallel::for_range(x.count(), grain, [&](std::int64_t i, std::int64_t end) {
      loop(parameter + i, gradient + i, momentum ? momentum + i : nullptr, step, end - i);
    });
  });
}

void adam(Tensor x, const Tensor& g, Tensor m, Tensor v, const AdamStep& step) {
  check_like("adam", "gradient", g, x);
  check_like("adam", "first moment", m, x);
  check_like("adam", "second moment", v, x);
  visit_floating("adam", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().adam;
    T *parameter = x.mutable_data<T>(), *first = m.mutable_data<T>(), *second = v.mutable_data<T>();
    const T* gradient = g.data<T>();
    parallel::for_range(x.count(), grain, [&](std::int64_t i, std::int64_t end) {
      loop(parameter + i, gradient + i, first + i, second + i, step, end - i);
    });
  });
}

}  // namespace ladon::kernels
