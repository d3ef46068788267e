// ONNX operators: reductions, indices of extrema, and running sums.

#include "case.h"
#include "ladon/autograd/ops.h"

namespace ladon::golden {
namespace {

/// The axes a reduction works on. None given: all, or none at all where `noop_with_empty_axes`.
Axes axes_of(const Case& c) {
  const auto given = c.integers("axes", 1);
  if (given && !given->empty()) return to_axes(*given);
  if (c.flag("noop_with_empty_axes", false)) return std::vector<int>{};
  return {};
}

using Reduction = Tensor (*)(const Tensor&, const Axes&, Dims);

/// Integers are reduced as they are, or (if `floating`) in f64 and truncated back.
template <Reduction f, bool floating>
Tensors reduce(const Case& c) {
  const Tensor& x = c.in(0);
  const Dims dims = c.flag("keepdims", true) ? Dims::keep : Dims::drop;
  return {cast(f(floating ? as_floating(x) : x, axes_of(c), dims), x.dtype())};
}

Tensor sum_of(const Tensor& x, const Axes& a, Dims d) { return sum(x, a, d); }
Tensor mean_of(const Tensor& x, const Axes& a, Dims d) { return mean(x, a, d); }
Tensor prod_of(const Tensor& x, const Axes& a, Dims d) { return prod(x, a, d); }
Tensor l1(const Tensor& x, const Axes& a, Dims d) { return sum(abs(x), a, d); }
Tensor l2(const Tensor& x, const Axes& a, Dims d) { return norm(x, a, d); }
Tensor sum_square(const Tensor& x, const Axes& a, Dims d) { return sum(square(x), a, d); }
Tensor log_sum(const Tensor& x, const Axes& a, Dims d) { return log(sum(x, a, d)); }
Tensor log_sum_exp(const Tensor& x, const Axes& a, Dims d) { return logsumexp(x, a, d); }
Tensor largest(const Tensor& x, const Axes& a, Dims d) {
  return x.dtype() == boolean ? any(x, a, d) : amax(x, a, d);
}
Tensor smallest(const Tensor& x, const Axes& a, Dims d) {
  return x.dtype() == boolean ? all(x, a, d) : amin(x, a, d);
}

using ArgExtremum = Tensor (*)(const Tensor&, int, Dims);
template <ArgExtremum f>
Tensors arg(const Case& c) {
  const Dims dims = c.flag("keepdims", true) ? Dims::keep : Dims::drop;
  const int axis = c.axis("axis", 0, c.in(0).rank());
  if (!c.flag("select_last_index", false)) return {f(c.in(0), axis, dims)};
  const double last = static_cast<double>(c.in(0).size(axis) - 1);
  return {last - f(flip(c.in(0), {axis}), axis, dims)};  // the first of the reversed axis
}

Tensors running_sum(const Case& c) {
  const int axis =
      detail::normalize_axis("CumSum", to_axes({c.in(1).item<std::int64_t>()})[0], c.in(0).rank());
  const bool reverse = c.flag("reverse", false);
  Tensor y = reverse ? flip(c.in(0), {axis}) : c.in(0);
  y = cumsum(y, axis);
  if (c.flag("exclusive", false)) {  // shifted by one, from 0
    std::vector<std::int64_t> before(static_cast<std::size_t>(y.rank())), after = before;
    before[axis] = 1;
    after[axis] = -1;
    y = pad(y, before, after);
  }
  return {cast(reverse ? flip(y, {axis}) : y, c.in(0).dtype())};
}

template <Reduction f>
Tensors pool_all(const Case& c) {
  std::vector<int> axes;
  for (int axis = 2; axis < c.in(0).rank(); ++axis) axes.push_back(axis);
  return {f(c.in(0), axes, keep_dims)};
}

}  // namespace

void add_reductions(Table& t) {
  t["ReduceSum"] = reduce<sum_of, false>;
  t["ReduceProd"] = reduce<prod_of, false>;
  t["ReduceMax"] = reduce<largest, false>;
  t["ReduceMin"] = reduce<smallest, false>;
  t["ReduceL1"] = reduce<l1, false>;
  t["ReduceSumSquare"] = reduce<sum_square, false>;
  t["ReduceL2"] = reduce<l2, true>;
  t["ReduceMean"] = reduce<mean_of, true>;
  t["ReduceLogSum"] = reduce<log_sum, true>;
  t["ReduceLogSumExp"] = reduce<log_sum_exp, true>;
  t["ArgMax"] = arg<argmax>;
  t["ArgMin"] = arg<argmin>;
  t["CumSum"] = running_sum;
  t["GlobalAveragePool"] = pool_all<mean_of>;
  t["GlobalMaxPool"] = pool_all<largest>;
}

}  // namespace ladon::golden
