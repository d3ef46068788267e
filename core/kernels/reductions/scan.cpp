// Functions along an axis: indices of extremes, running sums and products.

#include <algorithm>
#include <numeric>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

template <class T>
bool is_nan(T x) {
  return x != x;
}

// Finds the extreme value of a row by a vector loop, and then the first position of this value.
Tensor arg_extreme(Reduce op, std::string_view operation, const Tensor& x, int axis, bool keep) {
  const int a = detail::normalize_axis(operation, axis, x.rank());
  LADON_CHECK(x.shape()[a] > 0, operation, "axis ", axis, " of shape ", x.shape(),
              " is empty, but needs at least one element");
  if (x.dtype() == boolean) return arg_extreme(op, operation, cast(x, i64), axis, keep);
  const Tensor y = along_axis(
      a,
      [&](const Tensor& rows) {
        Shape shape = rows.shape();
        shape[rows.rank() - 1] = 1;
        Tensor index = empty(shape, i64);
        const auto find = [&]<class T>() {
          const auto loop = loops().of<T>().reduce[int(op)];
          const std::int64_t n = rows.size(-1);
          const T* data = rows.data<T>();
          std::int64_t* out = index.mutable_data<std::int64_t>();
          for_rows(index.count(), n, [=](std::int64_t r) {
            const T *begin = data + r * n, *end = begin + n;
            const T best = loop(begin, n);
            out[r] =
                (is_nan(best) ? std::find_if(begin, end, is_nan<T>) : std::find(begin, end, best)) -
                begin;
          });
        };
        if (rows.dtype() == i64)
          find.template operator()<std::int64_t>();
        else
          visit_floating(operation, rows.dtype(), find);
        return index;
      },
      x);
  return keep ? y : view::squeeze(y, a);
}

}  // namespace

Tensor argmax(const Tensor& x, int axis, bool keep) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return argmax(u, mapped::next(axis), keep); }, x);
  return arg_extreme(Reduce::max, "argmax", x, axis, keep);
}

Tensor argmin(const Tensor& x, int axis, bool keep) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return argmin(u, mapped::next(axis), keep); }, x);
  return arg_extreme(Reduce::min, "argmin", x, axis, keep);
}

namespace {

// y_i = step(y_{i−1}, in_i…) along each row, where y_{−1} is `start`. f32 is computed in double;
// integers wrap around.
template <class Step, class... More>
Tensor scan(int axis, int start, const Step& step, const Tensor& x, const More&... more) {
  return along_axis(
      axis,
      [&](const Tensor& rows, const auto&... others) {
        Tensor y = empty_like(rows);
        const std::int64_t n = rows.size(-1);
        const auto run = [&]<class T, class Wide>(Wide) {
          T* out = y.mutable_data<T>();
          const auto run_rows = [=](const auto*... in) {
            for_rows(y.count() / std::max<std::int64_t>(n, 1), n, [=](std::int64_t r) {
              Wide value = static_cast<Wide>(start);
              for (std::int64_t i = r * n; i < (r + 1) * n; ++i)
                out[i] = static_cast<T>(value = step(value, static_cast<Wide>(in[i])...));
            });
          };
          run_rows(rows.data<T>(), others.template data<T>()...);
        };
        if (rows.dtype() == i64)
          run.template operator()<std::int64_t>(std::uint64_t{});
        else if (rows.dtype() == f32)
          run.template operator()<float>(double{});
        else
          run.template operator()<double>(double{});
        return y;
      },
      x, more...);
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return cumsum(u, mapped::next(axis)); }, x);
  const int a = detail::normalize_axis("cumsum", axis, x.rank());
  if (x.dtype() == boolean) return cumsum(cast(x, i64), axis);
  return scan(
      a, 0, [](auto sum, auto value) { return sum + value; }, x);
}

Tensor cumprod(const Tensor& x, int axis) {
  if (x.mapped())
    return mapped::batched([=](const Tensor& u) { return cumprod(u, mapped::next(axis)); }, x);
  const int a = detail::normalize_axis("cumprod", axis, x.rank());
  if (x.dtype() == boolean) return cumprod(cast(x, i64), axis);
  return scan(
      a, 1, [](auto product, auto value) { return product * value; }, x);
}

Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis) {
  if (mapped::any(a, b)) {
    const auto of_all = [=](const Tensor& u, const Tensor& v) {
      return linear_recurrence(u, v, mapped::next(axis));
    };
    return mapped::batched(of_all, a, b);
  }
  const auto step = [](auto h, auto u, auto v) { return u == 0 ? v : u * h + v; };
  return scan(detail::normalize_axis("linear_recurrence", axis, a.rank()), 0, step, a, b);
}

}  // namespace ladon::kernels
