#include "ladon/autograd/extra/attention/rotary.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon {

Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved) {
  check_defined("rotary_embedding", {x, cos, sin});
  LADON_CHECK(x.rank() > 0 && cos.rank() > 0 && cos.shape() == sin.shape() &&
                  2 * cos.size(-1) <= x.size(-1),
              "rotary_embedding", "needs x [.., T, d] and cos, sin [.., T, r/2] with r ≤ d, got ",
              x.shape(), ", ", cos.shape(), " and ", sin.shape());
  const std::int64_t half = cos.size(-1), width = x.size(-1);
  const Tensor turned = slice(x, -1, {.stop = 2 * half});
  const Tensor u = slice(turned, -1, interleaved ? Slice{.step = 2} : Slice{.stop = half});
  const Tensor v =
      slice(turned, -1, interleaved ? Slice{.start = 1, .step = 2} : Slice{.start = half});
  const Shape shape = broadcast_shapes("rotary_embedding", u.shape(), cos.shape());
  LADON_CHECK(shape == u.shape(), "rotary_embedding", "cos and sin of shape ", cos.shape(),
              " do not broadcast to the pairs of channels of x, which have shape ", u.shape());
  const Tensor first = u * cos - v * sin, second = v * cos + u * sin;
  const Tensor y =
      interleaved ? flatten(stack({first, second}, -1), -2, -1) : concat({first, second}, -1);
  if (2 * half == width) return y;
  return concat({y, slice(x, -1, {.start = 2 * half})}, -1);
}

}  // namespace ladon
