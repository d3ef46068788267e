#include "ladon/autograd/extra/attention/rotary.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/kernels/rotary.h"

namespace ladon {

namespace {

/// The first and second members, u and v [.., half], of the pairs of channels to rotate.
struct Pairs {
  Tensor u, v;
};
Pairs pairs_of(const Tensor& x, std::int64_t half, bool interleaved) {
  const Tensor turned = slice(x, -1, {.stop = 2 * half});
  if (interleaved)
    return {slice(turned, -1, {.step = 2}), slice(turned, -1, {.start = 1, .step = 2})};
  return {slice(turned, -1, {.stop = half}), slice(turned, -1, {.start = half})};
}

}  // namespace

Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved) {
  check_defined("rotary_embedding", {x, cos, sin});
  LADON_CHECK(x.rank() > 0 && cos.rank() > 0 && cos.shape() == sin.shape() &&
                  2 * cos.size(-1) <= x.size(-1),
              "rotary_embedding", "needs x [.., T, d] and cos, sin [.., T, r/2] with r ≤ d, got ",
              x.shape(), ", ", cos.shape(), " and ", sin.shape());
  const std::int64_t half = cos.size(-1);
  Shape pairs = x.shape();
  pairs[x.rank() - 1] = half;
  LADON_CHECK(broadcast_shapes("rotary_embedding", pairs, cos.shape()) == pairs, "rotary_embedding",
              "cos and sin of shape ", cos.shape(),
              " do not broadcast to the pairs of channels of x, which have shape ", pairs);
  const DType dtype = promote(promote(promote(x.dtype(), cos.dtype()), sin.dtype()), f32);
  if (x.dtype() != dtype || cos.dtype() != dtype || sin.dtype() != dtype)
    return rotary_embedding(cast(x, dtype), cast(cos, dtype), cast(sin, dtype), interleaved);
  return record(
      "rotary_embedding", kernels::rotate_pairs(x, cos, sin, interleaved), {x, cos, sin},
      with_forward(
          [=, cos = saved(cos), sin = saved(sin)](const Tensor& g) {
            return rotary_embedding(g, cos, -*sin, interleaved);  // the transposed rotation
          },
          [=, cos = saved(cos), sin = saved(sin)](const Tensor& t) {
            return rotary_embedding(t, cos, sin, interleaved);
          }),
      [=, x = saved(x)](const Tensor& g) {  // gradient of cos: (u, v)·(gu, gv)
        const auto [u, v] = pairs_of(x, half, interleaved);
        const auto [gu, gv] = pairs_of(g, half, interleaved);
        return u * gu + v * gv;
      },
      [=, x = saved(x)](const Tensor& g) {  // gradient of sin: (−v, u)·(gu, gv)
        const auto [u, v] = pairs_of(x, half, interleaved);
        const auto [gu, gv] = pairs_of(g, half, interleaved);
        return u * gv - v * gu;
      });
}

}  // namespace ladon
