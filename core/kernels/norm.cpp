#include "ladon/core/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

/// v as a contiguous tensor [n], or undefined if v is undefined. Throws Error unless n is the size
/// of x's last axis and the dtypes are equal.
Tensor row_vector(std::string_view what, const Tensor& v, const Tensor& x) {
  if (!v.defined()) return v;
  LADON_CHECK(v.rank() == 1 && v.size(0) == x.size(-1) && v.dtype() == x.dtype(), "layer_norm",
              what, " ", v.shape(), " ", v.dtype(),
              " must be a vector of the size of the last axis of x and of the dtype of x, "
              "which is ",
              x.shape(), " ", x.dtype());
  return contiguous(v);
}

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

}  // namespace

LayerNormResult layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  if (mapped::any(weight, bias)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const LayerNormResult r = layer_norm(of[0], of[1], of[2], eps);
      return std::vector{r.y, r.mean, r.rstd};
    };
    const std::vector<Tensor> r = mapped::each({x, weight, bias}, alone);
    return {r[0], r[1], r[2]};
  }
  if (x.mapped()) {
    const LayerNormResult r = layer_norm(mapped::show(x), weight, bias, eps);
    const auto of_each = [&](const Tensor& part) { return mapped::hide(part, x.levels()); };
    return {of_each(r.y), of_each(r.mean), of_each(r.rstd)};
  }
  LADON_CHECK(x.rank() >= 1, "layer_norm", "needs at least one axis, got shape ", x.shape());
  const Tensor rows = contiguous(x), w = row_vector("weight", weight, x),
               b = row_vector("bias", bias, x);
  Shape one_a_row = x.shape();
  one_a_row[x.rank() - 1] = std::min<std::int64_t>(1, x.size(-1));
  LayerNormResult result{empty_like(x), empty(one_a_row, x.dtype()), empty(one_a_row, x.dtype())};
  visit_floating("layer_norm", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().layer_norm;
    const std::int64_t n = x.size(-1);
    const T *in = rows.data<T>(), *scale = data_or_null<T>(w), *shift = data_or_null<T>(b);
    T *y = result.y.mutable_data<T>(), *mean = result.mean.mutable_data<T>(),
      *rstd = result.rstd.mutable_data<T>();
    for_rows(result.mean.count(), n, [=](std::int64_t r) {
      loop(in + r * n, scale, shift, static_cast<T>(eps), y + r * n, mean + r, rstd + r, n);
    });
  });
  return result;
}

// Each task sums the contributions of its rows to dweight and dbias in one row of a matrix
// [tasks, n]; the rows of this matrix are summed at the end.
LayerNormGradients layer_norm_backward(const Tensor& g, const Tensor& x, const Tensor& mean,
                                       const Tensor& rstd, const Tensor& weight, bool has_bias) {
  if (mapped::any(g, x, mean, weight)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const LayerNormGradients d = layer_norm_backward(of[0], of[1], of[2], of[3], of[4], has_bias);
      return std::vector{d.x, d.weight, d.bias};
    };
    const std::vector<Tensor> d = mapped::each({g, x, mean, rstd, weight}, alone);
    return {d[0], d[1], d[2]};
  }
  LADON_CHECK(g.shape() == x.shape() && g.dtype() == x.dtype(), "layer_norm_backward", "gradient ",
              g.shape(), " ", g.dtype(), " and input ", x.shape(), " ", x.dtype(),
              " must have the same shape and dtype");
  const Tensor g_rows = contiguous(g), x_rows = contiguous(x), w = row_vector("weight", weight, x),
               m = contiguous(mean), s = contiguous(rstd);
  const std::int64_t n = x.size(-1), rows = m.count(), grain = rows_per_task(n);
  const std::int64_t tasks = (rows + grain - 1) / grain;
  LayerNormGradients result{empty_like(x), Tensor(), Tensor()};
  if (w.defined()) result.weight = zeros({tasks, n}, x.dtype());
  if (has_bias) result.bias = zeros({tasks, n}, x.dtype());
  visit_floating("layer_norm_backward", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().layer_norm_backward;
    const T *gp = g_rows.data<T>(), *xp = x_rows.data<T>(), *mp = m.data<T>(), *sp = s.data<T>(),
            *wp = data_or_null<T>(w);
    T* dx = result.x.mutable_data<T>();
    T* dw = w.defined() ? result.weight.mutable_data<T>() : nullptr;
    T* db = has_bias ? result.bias.mutable_data<T>() : nullptr;
    parallel::for_range(rows, grain, [=](std::int64_t begin, std::int64_t end) {
      const std::int64_t task = begin / grain * n;
      for (std::int64_t r = begin; r < end; ++r)
        loop(gp + r * n, xp + r * n, mp[r], sp[r], wp, dx + r * n, dw ? dw + task : nullptr,
             db ? db + task : nullptr, n);
    });
  });
  if (w.defined()) result.weight = reduce(Reduce::sum, result.weight, {0}, false);
  if (has_bias) result.bias = reduce(Reduce::sum, result.bias, {0}, false);
  return result;
}

// A row stays in the first-level cache between the passes over it.
RmsNormResult rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  if (mapped::any(x, weight)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const RmsNormResult r = rms_norm(of[0], of[1], eps);
      return std::vector{r.y, r.r};
    };
    const std::vector<Tensor> r = mapped::each({x, weight}, alone);
    return {r[0], r[1]};
  }
  const Tensor rows = contiguous(x), w = row_vector("weight", weight, x);
  const std::int64_t n = x.size(-1);
  Shape one_a_row = x.shape();
  one_a_row[x.rank() - 1] = std::min<std::int64_t>(1, n);
  RmsNormResult result{empty_like(x), empty(one_a_row, x.dtype())};
  visit_floating("rms_norm", x.dtype(), [&]<class T>() {
    const auto& l = loops().of<T>();
    const auto square = l.unary[int(Unary::square)];
    const auto times = l.binary[int(Binary::mul)];
    const auto sum = l.reduce[int(Reduce::sum)];
    const T *in = rows.data<T>(), *scale = data_or_null<T>(w);
    T *y = result.y.mutable_data<T>(), *r = result.r.mutable_data<T>();
    parallel::for_range(
        result.r.count(), rows_per_task(n), [=](std::int64_t row, std::int64_t end) {
          Tensor same = empty({n}, dtype_of<T>());
          T* const factor = same.mutable_data<T>();
          for (; row < end; ++row) {
            T* const out = y + row * n;
            square(in + row * n, out, n);
            r[row] = T(1) / std::sqrt(sum(out, n) / static_cast<T>(n) + static_cast<T>(eps));
            std::fill_n(factor, n, r[row]);
            times(in + row * n, factor, out, n);
            if (scale) times(out, scale, out, n);
          }
        });
  });
  return result;
}

// With u = g·weight:  dx = r·u − x·r³·⟨u, x⟩/n for a row of n elements, and dweight = Σ r·g·x over
// rows, summed first within tasks.
LayerNormGradients rms_norm_backward(const Tensor& g, const Tensor& x, const Tensor& r,
                                     const Tensor& weight) {
  if (mapped::any(g, x, r, weight)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const LayerNormGradients d = rms_norm_backward(of[0], of[1], of[2], of[3]);
      return std::vector{d.x, d.weight};
    };
    const std::vector<Tensor> d = mapped::each({g, x, r, weight}, alone);
    return {d[0], d[1], {}};
  }
  const Tensor g_rows = contiguous(g), x_rows = contiguous(x), factors = contiguous(r),
               w = row_vector("weight", weight, x);
  const std::int64_t n = x.size(-1), rows = factors.count(), grain = rows_per_task(n);
  LayerNormGradients result{empty_like(x), {}, {}};
  if (w.defined()) result.weight = zeros({(rows + grain - 1) / grain, n}, x.dtype());
  visit_floating("rms_norm_backward", x.dtype(), [&]<class T>() {
    const auto& l = loops().of<T>();
    const auto times = l.binary[int(Binary::mul)];
    const auto sum = l.reduce[int(Reduce::sum)];
    const auto axpby = l.axpby;
    const T *gp = g_rows.data<T>(), *xp = x_rows.data<T>(), *rp = factors.data<T>(),
            *wp = data_or_null<T>(w);
    T *dx = result.x.mutable_data<T>(), *dw = wp ? result.weight.mutable_data<T>() : nullptr;
    parallel::for_range(rows, grain, [=](std::int64_t row, std::int64_t end) {
      Tensor product = empty({n}, dtype_of<T>());
      T *const by_x = product.mutable_data<T>(), *const sums = dw ? dw + row / grain * n : nullptr;
      for (; row < end; ++row) {
        const T *gr = gp + row * n, *xr = xp + row * n;
        const T f = rp[row];
        T* const u = dx + row * n;
        times(gr, xr, by_x, n);
        if (wp) axpby(T(1), sums, f, by_x, n), times(by_x, wp, by_x, n);
        const T along = sum(by_x, n) / static_cast<T>(n);
        if (wp)
          times(gr, wp, u, n);
        else
          std::copy_n(gr, n, u);
        axpby(f, u, -f * f * f * along, xr, n);
      }
    });
  });
  if (w.defined()) result.weight = reduce(Reduce::sum, result.weight, {0}, false);
  return result;
}

}  // namespace ladon::kernels
