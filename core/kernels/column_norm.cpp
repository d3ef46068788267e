// Batch norm: normalization over the rows of a matrix. The forward pass reads the matrix once for
// the mean, and at least twice more, for the variance and the result; the backward pass reads it
// twice.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/norm.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

using std::int64_t;

Tensor plus(const Tensor& a, double b) { return binary(Binary::add, a, b); }
Tensor times(const Tensor& a, const Tensor& b) { return binary(Binary::mul, a, b); }

/// Number of rows of x; 0 if the rows have no elements (there may be very many empty rows).
int64_t rows_of(const Tensor& x) { return x.size(1) == 0 ? 0 : x.size(0); }

/// Two sums [n] over the rows of a matrix [rows, n]. add(first row, count, sum1, sum2) adds `count`
/// rows to both sums. Rows are summed in chunks, and then the sums of chunks: in f32, a single
/// running sum over many rows would be too inexact, because each addition loses digits of the row
/// below the last digit of the sum.
template <class T, class Add>
std::array<Tensor, 2> sums_over_rows(int64_t rows, int64_t n, const Tensor& like, const Add& add) {
  constexpr int64_t chunk = 64;
  const int64_t chunks = (rows + chunk - 1) / chunk;
  Tensor parts = zeros({chunks, 2, n}, like.dtype());
  T* to = parts.mutable_data<T>();
  const int64_t grain = std::max<int64_t>(1, rows_per_task(n) / chunk);
  parallel::for_range(chunks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      T* first = to + c * 2 * n;
      add(c * chunk, std::min(chunk, rows - c * chunk), first, first + n);
    }
  });
  const Tensor sums = reduce(Reduce::sum, parts, {0}, false);
  return {view::select(sums, 0, 0), view::select(sums, 0, 1)};
}

template <class F>
void for_row_tasks(int64_t rows, int64_t n, const F& body) {
  parallel::for_range(rows, rows_per_task(n),
                      [&](int64_t begin, int64_t end) { body(begin, end - begin); });
}

template <class T>
ColumnMoments moments_of(const Tensor& x) {
  ColumnMoments f;
  const int64_t rows = rows_of(x), n = x.size(1);
  const T* in = x.data<T>();
  f.mean = mean(x, {0}, false);
  f.rest = zeros({n}, x.dtype());
  const auto deviations = [&] {
    const T *centre = f.mean.data<T>(), *rest = f.rest.data<T>();
    return sums_over_rows<T>(rows, n, x, [=](int64_t r, int64_t count, T* sum, T* squares) {
      loops().of<T>().columns.deviations(in + r * n, centre, rest, count, n, sum, squares);
    });
  };
  const auto over_rows = [&](const Tensor& sum) {
    return binary(Binary::div, sum, static_cast<double>(rows));
  };
  auto [sum, squares] = deviations();
  f.var = over_rows(squares);
  const Tensor far = compare(Compare::gt, unary(Unary::abs, f.mean),
                             binary(Binary::mul, unary(Unary::sqrt, f.var), 4));
  if (anywhere(far)) {
    f.rest = where(far, over_rows(sum), f.rest);
    f.var = over_rows(deviations()[1]);
  }
  return f;
}

/// x with each column divided by its `unit`, a power of two near the larger of the column's largest
/// absolute value and sqrt(eps), so that squares are in the range of the dtype.
struct InUnits {
  Tensor x, unit, eps;  ///< eps: the given eps divided by unit².
};
InUnits in_units(const Tensor& x, double eps) {
  const Tensor unit = contiguous(view::select(scale_of(x, {0}, std::sqrt(eps)), 0, 0));
  const Tensor over = binary(Binary::div, eps, unit);
  return {binary(Binary::div, x, unit), unit, binary(Binary::div, over, unit)};
}

/// Returns (x − mean − rest)·rstd·weight + bias, with the moments f of the columns of x.
template <class T>
Tensor normalized(const Tensor& x, const ColumnMoments& f, const Tensor& weight,
                  const Tensor& bias) {
  const int64_t rows = rows_of(x), n = x.size(1);
  const Tensor scale = weight.defined() ? times(f.rstd, weight) : f.rstd;
  const Tensor shift = bias.defined() ? contiguous(bias) : zeros({n}, x.dtype());
  Tensor result = empty_like(x);
  const T *in = x.data<T>(), *mean = f.mean.data<T>(), *rest = f.rest.data<T>(),
          *by = scale.data<T>(), *add = shift.data<T>();
  T* y = result.mutable_data<T>();
  for_row_tasks(rows, n, [=](int64_t at, int64_t count) {
    loops().of<T>().columns.normalize(in + at * n, mean, rest, by, add, count, n, y + at * n);
  });
  return result;
}

}  // namespace

bool squares_in_range(const Tensor& rstd) {
  const double bound = rstd.dtype() == f32 ? 0x1p50 : 0x1p480;
  return all_within(rstd, 1 / bound, bound);
}

ColumnNormResult column_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                             double eps) {
  if (mapped::any(x, weight, bias)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const ColumnNormResult r = column_norm(of[0], of[1], of[2], eps);
      const ColumnMoments& f = r.moments;
      return std::vector{r.y, f.mean, f.rest, f.var, f.rstd};
    };
    const std::vector<Tensor> r = mapped::each({x, weight, bias}, alone);
    return {r[0], {r[1], r[2], r[3], r[4]}};
  }
  const Tensor source = contiguous(x);
  return visit_floating("normalize_batch", x.dtype(), [&]<class T>() -> ColumnNormResult {
    ColumnMoments f = moments_of<T>(source);
    f.rstd = unary(Unary::rsqrt, plus(f.var, eps));
    if (squares_in_range(f.rstd) || x.count() == 0)
      return {normalized<T>(source, f, weight, bias), f};
    const InUnits of = in_units(source, eps);
    f = moments_of<T>(of.x);
    const Tensor squares = binary(Binary::add, f.var, of.eps);
    f.rstd = unary(Unary::rsqrt, squares);
    Tensor rstd = binary(Binary::div, f.rstd, of.unit);
    if (eps > 0) {
      // Columns of equal numbers far above sqrt(eps), in whose unit eps underflows. Their
      // deviations from the mean are 0, so that any finite rstd gives the right y.
      const Tensor equal = compare(Compare::lt, squares, std::numeric_limits<T>::min());
      f.rstd = where(equal, full(squares.shape(), 1, x.dtype()), f.rstd);
      rstd = where(equal, full(squares.shape(), 1 / std::sqrt(eps), x.dtype()), rstd);
    }
    const Tensor y = normalized<T>(of.x, f, weight, bias);
    return {y,
            {times(f.mean, of.unit), times(f.rest, of.unit), times(times(f.var, of.unit), of.unit),
             rstd}};
  });
}

// Let d = (x − mean) − rest, r = rstd, h = d·r and s = r·weight. With sums over the R rows,
//   dx = s·(g − Σg/R − h·Σgh/R), dweight = Σgh, dbias = Σg.
LayerNormGradients column_norm_backward(const Tensor& g, const Tensor& x, const ColumnMoments& f,
                                        const Tensor& weight, bool has_bias) {
  if (mapped::any(g, x, f.mean, weight)) {
    const auto alone = [=](const std::vector<Tensor>& of) {
      const LayerNormGradients d =
          column_norm_backward(of[0], of[1], {of[2], of[3], {}, of[4]}, of[5], has_bias);
      return std::vector{d.x, d.weight, d.bias};
    };
    const std::vector<Tensor> d = mapped::each({g, x, f.mean, f.rest, f.rstd, weight}, alone);
    return {d[0], d[1], d[2]};
  }
  const Tensor up = contiguous(g), source = contiguous(x), r = f.rstd;
  const int64_t rows = rows_of(x), n = x.size(1);
  LayerNormGradients d{empty_like(x), {}, {}};
  visit_floating("normalize_batch", x.dtype(), [&]<class T>() {
    const auto& loop = loops().of<T>().columns;
    const T *gs = up.data<T>(), *in = source.data<T>(), *mean = f.mean.data<T>(),
            *rest = f.rest.data<T>();
    const auto [sum, along] =
        sums_over_rows<T>(rows, n, x, [=](int64_t at, int64_t count, T* one, T* two) {
          loop.gradient_sums(gs + at * n, in + at * n, mean, rest, count, n, one, two);
        });
    const Tensor weight_sums = times(along, r), scale = weight.defined() ? times(r, weight) : r;
    if (weight.defined()) d.weight = weight_sums;
    if (has_bias) d.bias = contiguous(sum);
    const auto over_rows = static_cast<double>(rows);
    const Tensor even = binary(Binary::div, sum, over_rows),
                 slope = binary(Binary::div, times(r, weight_sums), over_rows);
    const T *by = scale.data<T>(), *off = even.data<T>(), *tilt = slope.data<T>();
    T* dx = d.x.mutable_data<T>();
    for_row_tasks(rows, n, [=](int64_t at, int64_t count) {
      loop.backward(gs + at * n, in + at * n, mean, rest, by, off, tilt, count, n, dx + at * n);
    });
  });
  return d;
}

}  // namespace ladon::kernels
