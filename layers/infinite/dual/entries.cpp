#include "ladon/layers/infinite/dual/entries.h"

#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {

using kernels::DualPair;
using std::int64_t;

DualPair each_entry(const Tensor& p, const Tensor& q, const Tensor& c, const Tensor& skip,
                    const std::function<EntryPair(double p, double q, double c)>& of) {
  const NoGrad off;
  const auto dense = [&](const Tensor& x) { return contiguous(expand(x, c.shape())); };
  const Tensor ps = dense(p), qs = dense(q), cs = contiguous(c);
  const Tensor skipped = skip.defined() ? dense(skip) : skip;
  DualPair y{zeros(c.shape(), f64), zeros(c.shape(), f64)};
  const double *pp = ps.data<double>(), *qp = qs.data<double>(), *cp = cs.data<double>();
  const bool* left_out = skipped.defined() ? skipped.data<bool>() : nullptr;
  double *first = y.first.mutable_data<double>(), *second = y.second.mutable_data<double>();
  parallel::for_range(c.count(), 16, [&](int64_t i, int64_t end) {
    for (; i < end; ++i) {
      if (left_out && left_out[i]) continue;
      const EntryPair e = of(pp[i], qp[i], cp[i]);
      first[i] = e.first;
      second[i] = e.second;
    }
  });
  return y;
}

DualPair expanded_where(const Tensor& few, const DualRule& expansion, const Tensor& p,
                        const Tensor& q, const Tensor& c, bool with_derivative,
                        const std::function<DualPair()>& other) {
  const NoGrad off;
  if (c.count() > 0 && !any(few).item<bool>()) return other();
  const DualResult e = expansion.evaluate(p, q, c, with_derivative);
  if (c.count() == 0 || all(few).item<bool>()) return {e.value, e.derivative};
  const DualPair rest = other();
  return {where(few, e.value, rest.first),
          with_derivative ? where(few, e.derivative, rest.second) : Tensor()};
}

std::shared_ptr<const DualRule> expansion_of(const Pointwise& f) {
  return DualFunction::numeric(f, 128, std::numeric_limits<double>::infinity())
      .rule()
      .shared_from_this();
}

Tensor both_at_most(double most, const Tensor& p, const Tensor& q) {
  return logical_and(less_equal(p, most), less_equal(q, most));
}

}  // namespace ladon::infinite
