#include "ladon/layers/infinite/kernel/heads.h"

#include <cmath>

#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {

Tensor HeadLatents::form() const {
  LADON_CHECK(logits.defined() != (query.defined() && key.defined()), "HeadLatents",
              "must have either logits, or a query and a key");
  if (logits.defined()) {
    LADON_CHECK(logits.rank() == 3 && logits.size(1) == logits.size(2), "HeadLatents",
                "logits must be [H, R, R], got ", logits.shape());
    return logits;
  }
  LADON_CHECK(query.rank() == 3 && query.size(2) > 0 && key.shape() == query.shape(), "HeadLatents",
              "query and key must both be [H, R, d_k], got ", query.shape(), " and ", key.shape());
  return matmul(query, transpose(key)) / std::sqrt(static_cast<double>(query.size(-1)));
}

Tensor HeadLatents::scale() const {
  LADON_CHECK(
      !output.defined() || (output.rank() == 2 && output.size(0) == heads() && output.size(1) > 0),
      "HeadLatents", "output must be [", heads(), ", d_v], got ",
      output.defined() ? output.shape() : Shape{});
  return output.defined() ? mean(square(output), -1) : ones({heads()}, f64);
}

}  // namespace ladon::infinite
