#include "ladon/layers/infinite/dual/dual.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/held.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/view.h"
#include "ladon/layers/infinite/dual/rule.h"

namespace ladon::infinite {
namespace {

/// x with its expanded axes (stride 0) reduced to size 1; it broadcasts to the same tensor.
Tensor unstretched(Tensor x) {
  x = x.detach();
  for (int axis = 0; axis < x.rank(); ++axis)
    if (x.strides()[axis] == 0 && x.size(axis) > 1) x = view::slice(x, axis, 0, 1, 1);
  return x;
}

void check_operands(const Tensor& p, const Tensor& q, const Tensor& c) {
  for (const Tensor* x : {&p, &q, &c}) {
    LADON_CHECK(x->defined(), "dual", "p, q and c must be defined, but an operand is undefined");
    LADON_CHECK(x->dtype() == f64, "dual", "needs f64 tensors, got ", x->dtype(),
                "; convert it with cast(x, f64)");
  }
  for (const Tensor* x : {&p, &q})
    LADON_CHECK(broadcast_shapes("dual", x->shape(), c.shape()) == c.shape(), "dual",
                "a variance of shape ", x->shape(),
                " does not broadcast to the covariance's shape ", c.shape());
}

/// Upper decile of the magnitudes of those elements of the variances p and q (all finite) that are
/// not 0, or 0 if all are 0. A few large elements (less than a tenth) do not change its order of
/// magnitude; nor do elements that are 0 up to rounding, unless they are nine tenths of all.
double usual_variance(const char* operation, const Tensor& p, const Tensor& q) {
  std::vector<double> sizes;
  for (const Tensor* x : {&p, &q})
    for (const double variance : numbers_of(operation, *x))
      if (variance != 0) sizes.push_back(std::abs(variance));
  if (sizes.empty()) return 0;
  const auto decile = sizes.begin() + 9 * std::ssize(sizes) / 10;
  std::nth_element(sizes.begin(), decile, sizes.end());
  return *decile;
}

/// p with 0 in place of variances that rounding made negative.
Tensor not_negative(const Tensor& p) {
  const Tensor all = unstretched(p);
  return all.count() > 0 && number_of("dual", amin(all)) < 0 ? relu(p) : p;
}

}  // namespace

DualFunction::DualFunction(std::string name, std::shared_ptr<const DualRule> rule,
                           Pointwise function)
    : name_(std::move(name)), function_(std::move(function)), rule_(std::move(rule)) {}

const DualRule& DualFunction::rule() const& { return detail::held("DualFunction", rule_); }

DualResult SlopedRule::evaluate(const Tensor& p, const Tensor& q, const Tensor& c,
                                bool with_derivative) const {
  const kernels::DualPair e = values(unstretched(p), unstretched(q), c, with_derivative);
  DualResult result{record_by("dual", e.first, p, q, c, &SlopedRule::slopes), {}};
  if (with_derivative)
    result.derivative = record_by("dual_derivative", e.second, p, q, c, &SlopedRule::curvatures);
  return result;
}

Tensor SlopedRule::record_by(const char* name, const Tensor& value, const Tensor& p,
                             const Tensor& q, const Tensor& c, Slopes rule) const {
  return record_joint(
      name, value, {p, q, c},
      [self = std::static_pointer_cast<const SlopedRule>(shared_from_this()), rule, p = saved(p),
       q = saved(q), c = saved(c)](const Tensor& g, detail::GradientSink& sink) {
        LADON_CHECK(!grad_enabled(), "dual",
                    "a dual activation has no second derivatives; take gradients without "
                    "create_graph, or give the dual in closed form (DualFunction::closed)");
        const auto slopes_at = [&](const Tensor& left, const Tensor& right) {
          return (*self.*rule)(unstretched(left), unstretched(right), c);
        };
        if (sink.needs(0) || sink.needs(2)) {
          const kernels::DualPair d = slopes_at(p, q);
          if (sink.needs(0)) sink.give(0, g * d.second);
          if (sink.needs(2)) sink.give(2, g * d.first);
        }
        if (sink.needs(1)) sink.give(1, g * slopes_at(q, p).second);  // symmetric in p and q
      });
}

DualResult dual(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c,
                bool with_derivative) {
  check_operands(p, q, c);
  check_covariances("dual", p, q, c);
  return dual_of_computed(f, p, q, c, with_derivative);
}

DualResult dual_of_computed(const DualFunction& f, const Tensor& p, const Tensor& q,
                            const Tensor& c, bool with_derivative) {
  check_operands(p, q, c);
  return f.rule().evaluate(not_negative(p), not_negative(q), c, with_derivative);
}

void check_covariances(const char* operation, const Tensor& p, const Tensor& q, const Tensor& c) {
  const NoGrad off;
  const Tensor of_u = unstretched(p), of_v = unstretched(q), both = c.detach();
  if (both.count() == 0) return;
  for (const Tensor* x : {&of_u, &of_v, &both})
    if (!all(isfinite(*x)).item<bool>()) return;
  // A variance may be a difference of larger numbers, whose size determines its rounding error.
  // That size is unknown here for a single input: covariances give only a lower bound, which may be
  // 0 for centred inputs. So usual_variance() is used in its place: a few inputs of any size hardly
  // change it.
  const double least = std::min(number_of(operation, amin(of_u)), number_of(operation, amin(of_v)));
  if (least < 0)
    LADON_CHECK(least >= -1e-9 * usual_variance(operation, of_u, of_v), operation, "a variance is ",
                least, "; it must not be negative");
  const auto deviation = [](const Tensor& x) {
    return sqrt(relu(x) + 1e-12 * kernels::median_magnitude(x));
  };
  const Tensor possible = less_equal(abs(both), (1 + 1e-6) * (deviation(of_u) * deviation(of_v)));
  if (all(possible).item<bool>()) return;
  const Tensor flat = flatten(contiguous(possible));
  std::int64_t at = 0;
  while (flat.data<bool>()[at]) ++at;
  const auto number = [&](const Tensor& x) {
    return flatten(contiguous(expand(x, both.shape()))).data<double>()[at];
  };
  detail::fail(operation, "variables of variances ", number(of_u), " and ", number(of_v),
               " cannot have the covariance ", number(both),
               "; its square must not exceed the product of the variances");
}

}  // namespace ladon::infinite
