#include "ladon/layers/infinite/dual/dual.h"

#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
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

}  // namespace

DualFunction::DualFunction(std::string name, std::shared_ptr<const DualRule> rule,
                           Pointwise function)
    : name_(std::move(name)), function_(std::move(function)), rule_(std::move(rule)) {}

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
        if (sink.needs(1)) sink.give(1, g * slopes_at(q, p).second);  // E is symmetric
      });
}

DualResult dual(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c,
                bool with_derivative) {
  check_operands(p, q, c);
  return f.rule().evaluate(p, q, c, with_derivative);
}

}  // namespace ladon::infinite
