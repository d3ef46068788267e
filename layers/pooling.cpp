#include "ladon/layers/pooling.h"

#include <array>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/names.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 3> pooling_names = {"mean", "max", "first"};

/// [B, T] → [B, T, 1], after checking it against x.
Tensor column_mask(const char* operation, const Tensor& x, const Tensor& mask) {
  check(x.rank() == 3, operation, "expects [batch, T, dim], got shape ", x.shape());
  const Shape wanted = x.shape().sub(0, 2);
  if (!mask.defined()) return ones({wanted[0], wanted[1], 1}, boolean);
  check(mask.dtype() == boolean && mask.shape() == wanted, operation, "mask must be bool ", wanted,
        ", got ", mask.dtype(), " ", mask.shape());
  return unsqueeze(mask, 2);
}

}  // namespace

Pooling pooling_from_name(std::string_view name) {
  return static_cast<Pooling>(index_of_name("pooling", name, pooling_names));
}

Tensor mean_pool(const Tensor& x, const Tensor& mask) {
  const Tensor visible = column_mask("mean_pool", x, mask);
  const Tensor count = maximum(sum(cast(visible, x.dtype()), 1), scalar(1, x.dtype()));  // [B, 1]
  return sum(masked_fill(x, logical_not(visible), 0), 1) / count;
}

Tensor max_pool(const Tensor& x, const Tensor& mask) {
  const Tensor visible = column_mask("max_pool", x, mask);
  const Tensor largest = amax(masked_fill(x, logical_not(visible), -INFINITY), 1);
  return masked_fill(largest, logical_not(any(visible, 1)), 0);
}

Tensor first_token(const Tensor& x) {
  check(x.rank() == 3 && x.size(1) > 0, "first_token", "expects [batch, T > 0, dim], got shape ",
        x.shape());
  return select(x, 1, 0);
}

Tensor pool(Pooling kind, const Tensor& x, const Tensor& mask) {
  if (kind == Pooling::mean) return mean_pool(x, mask);
  if (kind == Pooling::max) return max_pool(x, mask);
  return first_token(x);
}

}  // namespace ladon
