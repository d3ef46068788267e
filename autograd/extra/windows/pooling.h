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
/// The mean over the elements of each window, without padding (default): NaN for a window entirely
/// in the padding.
Tensor average_pool(const Tensor& x, const Shape& window, const AveragePoolOptions& options = {});

/// Maximum (mean) over counts[a] windows on each axis a of positions, which divide its n positions
/// evenly: window i is [⌊i·n/count⌋, ⌈(i + 1)·n/count⌉) with count = counts[a]. Counts {1, 1} pool
/// a whole image. Throws Error unless counts are positive.
Tensor adaptive_max_pool(const Tensor& x, const Shape& counts);
Tensor adaptive_average_pool(const Tensor& x, const Shape& counts);

}  // namespace ladon
