#include "ladon/core/extra/kernels/rotary.h"

#include <algorithm>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

/// Rotates the r/2 pairs (u, v) of one row, x [d] → y [d]. The elements u of consecutive pairs are
/// `step` apart, and in each pair v is `apart` elements after u.
template <class T>
void rotate_row(const T* x, const T* cos, const T* sin, T* y, std::int64_t pairs,
                std::int64_t apart, std::int64_t step) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const T u = x[i * step], v = x[i * step + apart];
    y[i * step] = u * cos[i] - v * sin[i];
    y[i * step + apart] = v * cos[i] + u * sin[i];
  }
}

/// The angles as n contiguous rows of r/2 elements, for an x of shape [lead.., d]: row i of x uses
/// row i mod n. If the angles are [T, r/2], where T is the last size of `lead`, possibly with
/// leading axes of size 1, then n = T; other angles are expanded to `lead`.
Tensor rows_of_angles(const Tensor& angles, const Shape& lead) {
  const int axes = angles.rank() - 1;
  const std::int64_t period = lead.rank() > 0 ? lead[lead.rank() - 1] : 1;
  const bool shared = angles.shape().sub(0, std::max(0, axes - 1)).count() == 1;
  if (shared && (axes > 0 ? angles.size(-2) : 1) == period) return contiguous(angles);
  Shape all = lead;
  all.append(angles.size(-1));
  return contiguous(view::expand(angles, all));
}

}  // namespace

Tensor rotate_pairs(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved) {
  if (mapped::any(x, cos, sin)) {
    const auto alone = [=](const Tensor& u, const Tensor& c, const Tensor& s) {
      return rotate_pairs(u, c, s, interleaved);
    };
    return mapped::broadcast(alone, x, cos, sin);
  }
  const std::int64_t width = x.size(-1), pairs = cos.size(-1);
  const auto leading = [](const Tensor& t) { return t.shape().sub(0, t.rank() - 1); };
  const Shape angles = broadcast_shapes("rotary_embedding", leading(cos), leading(sin));
  const Shape lead = broadcast_shapes("rotary_embedding", leading(x), angles);
  Shape shape = lead;
  shape.append(width);
  const Tensor from = contiguous(view::expand(x, shape));
  const Tensor c = rows_of_angles(cos, lead), s = rows_of_angles(sin, lead);
  Tensor y = empty(shape, x.dtype());
  if (y.count() == 0) return y;
  const std::int64_t c_rows = c.shape().sub(0, c.rank() - 1).count(),
                     s_rows = s.shape().sub(0, s.rank() - 1).count();
  visit_floating("rotary_embedding", x.dtype(), [&]<class T>() {
    const T *in = from.data<T>(), *by = c.data<T>(), *and_by = s.data<T>();
    T* to = y.mutable_data<T>();
    const auto rows = [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* row = in + i * width;
        const T *c_row = by + i % c_rows * pairs, *s_row = and_by + i % s_rows * pairs;
        if (interleaved)
          rotate_row(row, c_row, s_row, to + i * width, pairs, 1, 2);
        else
          rotate_row(row, c_row, s_row, to + i * width, pairs, pairs, 1);
        std::copy(row + 2 * pairs, row + width, to + i * width + 2 * pairs);
      }
    };
    parallel::for_range(lead.count(), 1 + (1 << 15) / width, rows);
  });
  return y;
}

}  // namespace ladon::kernels
