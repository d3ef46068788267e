#include "ladon/core/kernels/reductions/softmax.h"

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

/// Rows that have elements: none of an empty tensor, however many there are.
std::int64_t row_count(const Tensor& x) {
  return x.count() / std::max<std::int64_t>(1, x.size(-1));
}

/// Rows of x, each mapped by the loop that `pick` takes from the table.
template <class Pick>
Tensor map_rows(std::string_view operation, const Tensor& x, int axis, Pick pick) {
  const auto along_last = [&](const Tensor& rows) {
    Tensor y = empty_like(rows);
    visit_floating(operation, rows.dtype(), [&]<class T>() {
      const auto loop = pick(loops().of<T>());
      const std::int64_t n = rows.size(-1);
      const T* in = rows.data<T>();
      T* out = y.mutable_data<T>();
      for_rows(row_count(rows), n, [=](std::int64_t r) { loop(in + r * n, out + r * n, n); });
    });
    return y;
  };
  return along_axis(detail::normalize_axis(operation, axis, x.rank()), along_last, x);
}

/// Gradient by x: rows of g and y, each pair mapped by the loop that `pick` takes from the table.
template <class Pick>
Tensor map_rows(std::string_view operation, const Tensor& g, const Tensor& y, int axis, Pick pick) {
  LADON_CHECK(g.shape() == y.shape() && g.dtype() == y.dtype(), operation, "gradient ", g.shape(),
              " ", g.dtype(), " and result ", y.shape(), " ", y.dtype(), " differ");
  const auto along_last = [&](const Tensor& g_rows, const Tensor& y_rows) {
    Tensor dx = empty_like(g_rows);
    visit_floating(operation, g.dtype(), [&]<class T>() {
      const auto loop = pick(loops().of<T>());
      const std::int64_t n = g_rows.size(-1);
      const T *a = g_rows.data<T>(), *b = y_rows.data<T>();
      T* out = dx.mutable_data<T>();
      for_rows(row_count(g_rows), n,
               [=](std::int64_t r) { loop(a + r * n, b + r * n, out + r * n, n); });
    });
    return dx;
  };
  return along_axis(detail::normalize_axis(operation, axis, g.rank()), along_last, g, y);
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return softmax(u, mapped::next(axis)); }, x);
  return map_rows("softmax", x, axis, [](const auto& l) { return l.softmax; });
}

Tensor log_softmax(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return log_softmax(u, mapped::next(axis)); }, x);
  return map_rows("log_softmax", x, axis, [](const auto& l) { return l.log_softmax; });
}

Tensor softmax_backward(const Tensor& g, const Tensor& y, int axis) {
  if (mapped::any(g, y)) {
    const auto of_all = [=](const Tensor& u, const Tensor& v) {
      return softmax_backward(u, v, mapped::next(axis));
    };
    return mapped::batched(of_all, g, y);
  }
  return map_rows("softmax_backward", g, y, axis, [](const auto& l) { return l.softmax_backward; });
}

Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int axis) {
  if (mapped::any(g, y)) {
    const auto of_all = [=](const Tensor& u, const Tensor& v) {
      return log_softmax_backward(u, v, mapped::next(axis));
    };
    return mapped::batched(of_all, g, y);
  }
  return map_rows("log_softmax_backward", g, y, axis,
                  [](const auto& l) { return l.log_softmax_backward; });
}

Tensor logsumexp(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return logsumexp(u, mapped::next(axis)); }, x);
  const auto along_last = [&](const Tensor& rows) {
    Shape shape = rows.shape();
    shape[rows.rank() - 1] = 1;
    Tensor y = empty(shape, rows.dtype());
    visit_floating("logsumexp", rows.dtype(), [&]<class T>() {
      const auto loop = loops().of<T>().logsumexp;
      const std::int64_t n = rows.size(-1);
      const T* in = rows.data<T>();
      T* out = y.mutable_data<T>();
      for_rows(y.count(), n, [=](std::int64_t r) { out[r] = loop(in + r * n, n); });
    });
    return y;
  };
  return along_axis(detail::normalize_axis("logsumexp", axis, x.rank()), along_last, x);
}

}  // namespace ladon::kernels
