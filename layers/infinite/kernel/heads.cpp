#include "ladon/layers/infinite/kernel/heads.h"

#include <cmath>

#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon::infinite {

Tensor HeadLatents::form() const {
  if (logits.defined()) return logits;
  return matmul(query, transpose(key)) / std::sqrt(static_cast<double>(query.size(-1)));
}

Tensor HeadLatents::scale() const {
  return output.defined() ? mean(square(output), -1) : ones({heads()}, f64);
}

}  // namespace ladon::infinite
