#include "ladon/core/kernels/reductions/moments.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

/// Number of elements that are reduced to one result.
double count_over(const Tensor& x, const std::vector<int>& axes) {
  double count = 1;
  for (const int axis : axes) count *= static_cast<double>(x.shape()[axis]);
  return count;
}

/// Removes the axes, which have size 1, unless `keep`.
Tensor kept_if(bool keep, Tensor y, const std::vector<int>& axes) {
  for (auto axis = axes.rbegin(); !keep && axis != axes.rend(); ++axis) y = view::squeeze(y, *axis);
  return y;
}

/// Largest finite number, smallest normal number and ε of a dtype, as double.
struct Range {
  double largest, least_normal, epsilon;
};
Range range_of(DType dtype) {
  return visit_floating("moments", dtype, []<class T>() {
    using Limits = std::numeric_limits<T>;
    return Range{Limits::max(), Limits::min(), Limits::epsilon()};
  });
}

/// sqrt(squares/divisor), where `squares` is Σx² with the axes kept. If Σx² left the normal range,
/// it is computed again from x scaled such that the largest element of each sum is in [1, 2).
Tensor root(const Tensor& squares, const Tensor& x, const std::vector<int>& axes, double divisor) {
  const auto of = [&](const Tensor& t) {
    return unary(Unary::sqrt, binary(Binary::div, t, divisor));
  };
  const Range range = range_of(x.dtype());
  const Tensor y = of(squares);
  if (all_within(y, std::sqrt(range.least_normal / range.epsilon), range.largest)) return y;
  const Tensor scale = scale_of(x, axes), scaled = binary(Binary::div, x, scale);
  return binary(Binary::mul, of(reduce(Reduce::sum_squares, scaled, axes, true)), scale);
}

struct Deviations {
  Tensor values, squares;  ///< x − mean, and Σ(x − mean)² with the axes kept.
};
Deviations deviations(const Tensor& x, const std::vector<int>& axes) {
  const Tensor center = mean(x, axes, true), d = binary(Binary::sub, x, center);
  const Tensor squares = reduce(Reduce::sum_squares, d, axes, true);
  const Tensor spread = root(squares, d, axes, count_over(x, axes));
  const Tensor far =
      compare(Compare::gt, unary(Unary::abs, center), binary(Binary::mul, spread, 4));
  if (!anywhere(far)) return {d, squares};
  const Tensor rest = where(far, mean(d, axes, true), zeros_like(center));
  const Tensor exact = binary(Binary::sub, d, rest);
  return {exact, reduce(Reduce::sum_squares, exact, axes, true)};
}

}  // namespace

bool all_within(const Tensor& x, double low, double high) {
  if (x.mapped()) return all_within(mapped::show(x), low, high);
  constexpr std::int64_t grain = 1 << 14;    // elements that stay in cache for the second pass
  const double size = std::min(-low, high);  // if Σ|x| is at most `size`, so is each |x|
  const Tensor row = contiguous(x);
  std::atomic<bool> within = true;
  visit_dtype(x.dtype(), [&]<class T>() {
    const T* values = row.data<T>();
    const auto* reduce = loops().of<T>().reduce;
    const auto piece = [&](std::int64_t i, std::int64_t end) {
      const auto of_all = [&](Reduce op) {
        return static_cast<double>(reduce[int(op)](values + i, end - i));
      };
      if (std::is_floating_point_v<T> && size > 0 && of_all(Reduce::sum_abs) <= size) return;
      if (!(of_all(Reduce::min) >= low && of_all(Reduce::max) <= high)) within = false;
    };
    if (row.count() <= grain) return piece(0, row.count());
    parallel::for_range(row.count(), grain, piece);
  });
  return within;
}

Tensor power_of_two(const Tensor& x) {
  if (x.mapped()) return mapped::broadcast(power_of_two, x);
  const Tensor dense = contiguous(x);
  Tensor y = empty_like(x);
  visit_floating("power_of_two", x.dtype(), [&]<class T>() {
    const T* in = dense.data<T>();
    T* out = y.mutable_data<T>();
    for (std::int64_t i = 0; i < x.count(); ++i)
      out[i] = in[i] > 0 && std::isfinite(in[i]) ? std::ldexp(T(1), std::ilogb(in[i])) : T(1);
  });
  return y;
}

Tensor scale_of(const Tensor& x, const std::vector<int>& axes, double least) {
  if (x.mapped()) {
    const auto of_all = [&](const Tensor& u) { return scale_of(u, mapped::next(axes), least); };
    return mapped::batched(of_all, x);
  }
  const Tensor above = reduce(Reduce::max, x, axes, true),
               below = reduce(Reduce::min, x, axes, true);
  const Tensor largest = binary(Binary::maximum, above, unary(Unary::neg, below));
  return power_of_two(least > 0 ? binary(Binary::maximum, largest, least) : largest);
}

Tensor mean(const Tensor& x, const std::vector<int>& axes, bool keep) {
  if (x.mapped())
    return mapped::batched([&](const Tensor& u) { return mean(u, mapped::next(axes), keep); }, x);
  const double n = count_over(x, axes), largest = range_of(x.dtype()).largest;
  const Tensor y = binary(Binary::div, reduce(Reduce::sum, x, axes, keep), n);
  if (n == 0 || all_within(y, -largest, largest)) return y;
  const double scale = std::ldexp(1.0, std::ilogb(n) + 1);
  const Tensor parts = binary(Binary::div, x, scale);
  const Tensor rescaled =
      binary(Binary::mul, binary(Binary::div, reduce(Reduce::sum, parts, axes, keep), n), scale);
  return where(compare(Compare::le, unary(Unary::abs, y), largest), y, rescaled);
}

Tensor root_mean_square(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor) {
  if (x.mapped()) {
    const auto of_all = [&](const Tensor& u) {
      return root_mean_square(u, mapped::next(axes), keep, divisor);
    };
    return mapped::batched(of_all, x);
  }
  return kept_if(keep, root(reduce(Reduce::sum_squares, x, axes, true), x, axes, divisor), axes);
}

Tensor variance(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor) {
  if (x.mapped()) {
    const auto of_all = [&](const Tensor& u) {
      return variance(u, mapped::next(axes), keep, divisor);
    };
    return mapped::batched(of_all, x);
  }
  const Deviations d = deviations(x, axes);
  const Tensor y = binary(Binary::div, d.squares, divisor);
  const bool in_range = all_within(y, 0, range_of(x.dtype()).largest);
  return kept_if(
      keep, in_range ? y : unary(Unary::square, root(d.squares, d.values, axes, divisor)), axes);
}

Tensor deviation(const Tensor& x, const std::vector<int>& axes, bool keep, double divisor) {
  if (x.mapped()) {
    const auto of_all = [&](const Tensor& u) {
      return deviation(u, mapped::next(axes), keep, divisor);
    };
    return mapped::batched(of_all, x);
  }
  const Deviations d = deviations(x, axes);
  return kept_if(keep, root(d.squares, d.values, axes, divisor), axes);
}

}  // namespace ladon::kernels
