#include "ladon/layers/extra/attention/structured_attention.h"

#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

StructuredAttention::StructuredAttention(const StructuredAttentionOptions& o, Generator& rng) {
  LADON_CHECK(o.dim > 0 && o.hidden > 0 && o.hops > 0, "StructuredAttention",
              "sizes must be positive, got dim = ", o.dim, ", hidden = ", o.hidden,
              ", hops = ", o.hops);
  inner = initialize(o.init, {o.hidden, o.dim}, rng);
  outer = initialize(o.init, {o.hops, o.hidden}, rng);
}

Tensor StructuredAttention::forward_masked(const Tensor& x, const Tensor& mask) const {
  return forward_with_weights(x, mask).output;
}

StructuredAttention::Details StructuredAttention::forward_with_weights(const Tensor& x,
                                                                       const Tensor& mask) const {
  detail::warn_of_precision("StructuredAttention", x, inner);
  LADON_CHECK(x.defined() && x.rank() == 3 && x.size(2) == inner.size(1), "StructuredAttention",
              "expects [batch, T, ", inner.size(1), "], got ", detail::shape_in_words(x));
  LADON_CHECK(!mask.defined() || mask.shape() == x.shape().sub(0, 2), "StructuredAttention",
              "sequences ", x.shape(), " need a mask of shape ", x.shape().sub(0, 2), ", got ",
              mask.shape());
  const Tensor absent = mask.defined() ? unsqueeze(logical_not(mask), -1) : Tensor();
  const Tensor h = mask.defined() ? masked_fill(x, absent, 0) : x;  // padding may hold NaN
  const Tensor mapped = linear(h, inner), features = tanh(mapped);  // [batch, T, hidden]
  const Tensor scores = linear(features, outer);                    // [batch, T, hops]
  if (ParameterUses::active()) {
    ParameterUses::report_product(h, mapped);
    ParameterUses::report_product(features, scores);
  }
  const Tensor seen = mask.defined() ? masked_fill(scores, absent, -HUGE_VAL) : scores;
  const Tensor weights = softmax(transpose(seen), -1);
  return {matmul(weights, h), weights};
}

void StructuredAttention::visit(Visitor& v) {
  v("inner", inner);
  v("outer", outer);
}

std::string StructuredAttention::describe() const {
  return detail::join("StructuredAttention(", inner.size(1), ", ", outer.size(0), " hops)");
}

}  // namespace ladon
