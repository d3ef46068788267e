#include "ladon/layers/hyperparameter.h"

#include <cmath>

#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"

namespace ladon {

// Multiplying by a number instead of a tensor is faster and gives bitwise the same result.
Tensor scaled(const Tensor& x, const Tensor& s) {
  if (is_plain(s)) return x * number_of("scaled", s);
  check_floating("scaled", x);
  return x * cast(s, x.dtype());
}

void detail::check_size(const char* layer, const char* option, double value) {
  LADON_CHECK(value >= 0 && std::isfinite(value), layer, option,
              " must be finite and must not be negative, got ", value);
}

void detail::check_depth(const char* layer, std::int64_t count) {
  constexpr std::int64_t most = 65536;
  LADON_CHECK(count > 0 && count <= most, layer, "layers must be positive and at most ", most,
              ", got ", count);
}

}  // namespace ladon
