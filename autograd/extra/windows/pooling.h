#pragma once
// Pooling over windows, per channel, channels last:  x [N, positions.., C] → [N, counts.., C], with
// as many axes of positions as the window has, and the number of windows per axis as `counts`.
// (For pooling over *all* positions see mean_positions and max_positions in layers/pooling.h.)
// Windows are placed as in convolution.h, by default without overlap.

#include <optional>

#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// The largest element of each window. If several elements are largest, the gradient goes to the
/// first. Padding is ignored: a window entirely in the padding gives −∞. NaN propagates.
Tensor max_pool(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// max_pool, together with the positions of the largest elements (i64 [N, counts.., C]), counted in
/// row-major order; −1 for a window entirely in the padding.
ValuesAndIndices max_pool_with_indices(const Tensor& x, const Shape& window,
                                       const WindowOptions& options = {});

struct AveragePoolOptions {
  Shape stride = {};                   ///< Default: the window size, so that windows do not
                                       ///< overlap.
  Shape before = {}, after = {};       ///< Positions padded at the two ends; default 0.
  Shape dilation = {};                 ///< Default 1.
  bool count_padding = false;          ///< Divide by the window's size, padding included.
  std::optional<double> divisor = {};  ///< If set, divide by this number; 1 gives sums. Not with
                                       ///< count_padding (Error).
};
/// The mean over the elements of each window. By default padding is not counted, and the mean is
/// NaN for a window entirely in the padding.
Tensor average_pool(const Tensor& x, const Shape& window, const AveragePoolOptions& options = {});

/// The maximum (mean) of each window, with counts[a] windows on each axis a of positions. The
/// windows divide the n positions of the axis evenly: window i has the positions from
/// ⌊i·n/counts[a]⌋ up to, but not including, ⌈(i + 1)·n/counts[a]⌉. Counts {1, 1} pool a whole
/// image. Throws Error unless counts are positive.
Tensor adaptive_max_pool(const Tensor& x, const Shape& counts);
Tensor adaptive_average_pool(const Tensor& x, const Shape& counts);

}  // namespace ladon
