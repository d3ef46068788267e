#include "ladon/autograd/extra/distributions/distribution.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/reduce.h"

namespace ladon {

Tensor Distribution::sample(const Shape& shape, Generator& rng) const {
  const NoGrad no_grad;
  return rsample(shape, rng).detach();  // inside jvp the parameters may have tangents
}

Tensor Distribution::rsample(const Shape&, Generator&) const {
  detail::fail(
      "rsample", "draws of a ", name(),
      " are discrete, so no gradient passes through them; multiply log_prob of a sample by its "
      "loss instead (score-function gradient)");
}

Tensor kl(const Distribution& p, const Distribution& q) { return p.kl_from(q); }

namespace detail {

Shape draw_shape(const Shape& shape, const Distribution& d) {
  Shape all = shape;
  for (const Shape& part : {d.batch_shape(), d.event_shape()})
    for (int i = 0; i < part.rank(); ++i) all.append(part[i]);
  return all;
}

bool everywhere(const Tensor& x) { return !kernels::anywhere(logical_not(x)); }

void check_parameter(const char* name, const char* what, const Tensor& x, bool positive) {
  check_floating(name, x);
  LADON_CHECK(everywhere(isfinite(x)), name, "the ", what,
              " must be finite, but has an element that is NaN or infinite");
  LADON_CHECK(!positive || everywhere(greater(x, 0)), name, "the ", what,
              " must be positive, but has an element that is not positive");
}

Tensor excess(const Tensor& p, const Tensor& q) {
  const Tensor u = (p - q) / q, near = less(abs(u), 0.5);
  return u - where(near, log1p(where(near, u, 0)), log(p) - log(q));
}

std::pair<Tensor, Tensor> together(const char* name, const Parameter& a, const Parameter& b) {
  for (const Parameter& p : {a, b}) check_parameter(name, p.what, p.value, p.positive);
  const Shape batch = broadcast_shapes(name, a.value.shape(), b.value.shape());
  const DType dtype = promote(a.value.dtype(), b.value.dtype());
  return {expand(cast(a.value, dtype), batch), expand(cast(b.value, dtype), batch)};
}

void throw_families(const Distribution& p, const Distribution& q) {
  fail("kl", "the divergence of a ", p.name(), " from a ", q.name(),
       " has no closed form here; average p.log_prob(x) - q.log_prob(x) over samples x of p");
}

}  // namespace detail
}  // namespace ladon
