#include "ladon/layers/infinite/dual/entries.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {

using kernels::DualPair;
using std::int64_t;

namespace {

Tensor dense(const Tensor& x, const Shape& shape) { return contiguous(expand(x, shape)); }

}  // namespace

DualPair each_entry(const Tensor& p, const Tensor& q, const Tensor& c,
                    const std::function<EntryPair(double p, double q, double c)>& of) {
  const NoGrad off;
  const Tensor ps = dense(p, c.shape()), qs = dense(q, c.shape()), cs = contiguous(c);
  DualPair y{empty(c.shape(), f64), empty(c.shape(), f64)};
  const double *pp = ps.data<double>(), *qp = qs.data<double>(), *cp = cs.data<double>();
  double *first = y.first.mutable_data<double>(), *second = y.second.mutable_data<double>();
  parallel::for_range(c.count(), 16, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      const EntryPair e = of(pp[i], qp[i], cp[i]);
      first[i] = e.first;
      second[i] = e.second;
    }
  });
  return y;
}

double rest_variance(double p, double q, double c) {
  if (!(p > 0)) return 0;
  const int i = std::ilogb(p) / 2, j = std::ilogb(q) / 2;
  const double a = std::ldexp(p, -2 * i), b = std::ldexp(q, -2 * j), m = std::ldexp(c, -i - j);
  const double square = m * m;
  const double determinant = std::fma(a, b, -square) - std::fma(m, m, -square);
  return std::ldexp(std::max(determinant, 0.0) / b, 2 * i);
}

DualPair expanded_where(
    const Tensor& few, const DualRule& expansion, const Tensor& p, const Tensor& q, const Tensor& c,
    bool with_derivative,
    const std::function<DualPair(const Tensor& p, const Tensor& q, const Tensor& c)>& other) {
  const NoGrad off;
  const Tensor known = dense(few, c.shape());
  const bool* is_known = known.data<bool>();
  std::vector<int64_t> left;
  for (int64_t i = 0; i < c.count(); ++i)
    if (!is_known[i]) left.push_back(i);
  if (c.count() > 0 && static_cast<int64_t>(left.size()) == c.count()) return other(p, q, c);
  const DualResult e = expansion.evaluate(p, q, c, with_derivative);
  if (left.empty()) return {e.value, e.derivative};
  const auto listed = [&](const Tensor& x) {
    const Tensor all = dense(x, c.shape());
    Tensor list = empty({static_cast<int64_t>(left.size())}, f64);
    for (std::size_t i = 0; i < left.size(); ++i)
      list.mutable_data<double>()[i] = all.data<double>()[left[i]];
    return list;
  };
  const DualPair rest = other(listed(p), listed(q), listed(c));
  const auto put = [&](const Tensor& series, const Tensor& list) {
    Tensor y = clone(series);
    double* to = y.mutable_data<double>();
    for (std::size_t i = 0; i < left.size(); ++i) to[left[i]] = list.data<double>()[i];
    return y;
  };
  return {put(e.value, rest.first), with_derivative ? put(e.derivative, rest.second) : Tensor()};
}

Tensor both_at_most(double most, const Tensor& p, const Tensor& q) {
  return logical_and(less_equal(p, most), less_equal(q, most));
}

Tensor moderate(double most, const Tensor& p, const Tensor& q, const Tensor& c) {
  constexpr double correlation = 0.8;
  return logical_and(both_at_most(most, p, q), less_equal(abs(c), correlation * sqrt(p) * sqrt(q)));
}

}  // namespace ladon::infinite
