#include "ladon/optim/extra/penalties/head_penalties.h"

#include <algorithm>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/extra/penalties/unit_vectors.h"

namespace ladon {
namespace {

/// x with 0 at the positions excluded by `mask`, so that their values, even NaN, do not affect
/// results and derivatives. Throws Error for wrong shapes and dtypes.
Tensor counted(const char* operation, const Tensor& x, const Tensor& mask) {
  LADON_CHECK(x.defined() && x.rank() == 4 && is_floating(x.dtype()) && x.size(1) > 0, operation,
              "needs floating [B, H, T, d] with H > 0, got ", ladon::detail::kind_in_words(x));
  const Shape positions{x.size(0), x.size(2)};
  LADON_CHECK(!mask.defined() || (mask.dtype() == boolean && mask.shape() == positions), operation,
              "the mask must be bool ", positions, ", got ", mask.dtype(), " ", mask.shape());
  if (!mask.defined()) return x;
  return masked_fill(x, unsqueeze(unsqueeze(logical_not(mask), -1), 1), 0);
}

/// The mean of x [B, T] over the positions that are not excluded; 0 if all are excluded.
Tensor over_positions(const Tensor& x, const Tensor& mask) {
  if (!mask.defined()) return sum(x) / std::max(1.0, static_cast<double>(x.count()));
  const double count = number_of("head_penalty", sum(mask));
  return sum(masked_fill(x, logical_not(mask), 0)) / std::max(1.0, count);
}

/// The mean of x_h·x_g over pairs of heads h < g, at every position:  [B, H, T, d] → [B, T].
/// Σ_{h<g} x_h·x_g = ½(|Σ_h x_h|² − Σ_h |x_h|²).
Tensor mean_products(const Tensor& x) {
  const auto heads = static_cast<double>(x.size(1));
  const Tensor all = sum(square(sum(x, 1)), -1), own = sum(square(x), {1, 3});
  return (all - own) / std::max(1.0, heads * (heads - 1));
}

}  // namespace

Tensor frobenius_penalty(const Tensor& maps, const Tensor& mask) {
  const Tensor a = transpose(counted("frobenius_penalty", maps, mask), 1, 2);  // [B, Tq, H, Tk]
  const Tensor products = matmul(a, transpose(a));                             // [B, Tq, H, H]
  const Tensor excess = products - eye(maps.size(1), maps.dtype());
  return over_positions(sum(square(excess), {2, 3}), mask);
}

Tensor disagreement_penalty(const Tensor& x, const Tensor& mask) {
  const Tensor unit = detail::unit_vectors(counted("disagreement_penalty", x, mask));
  return over_positions(mean_products(unit), mask);
}

Tensor overlap_penalty(const Tensor& maps, const Tensor& mask) {
  return over_positions(mean_products(counted("overlap_penalty", maps, mask)), mask);
}

}  // namespace ladon
