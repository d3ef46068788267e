#pragma once
// Pooling over windows, channels last:  x [N, positions.., C] → [N, counts.., C], per channel, over
// as many axes as the window has. (Over *all* positions: mean_positions and max_positions in
// layers/pooling.h.) Windows are placed as in convolution.h, by default without overlap.

#include <optional>

#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// The largest element of each window. The gradient goes to the first position that has it. Padding
/// is ignored: a window entirely in the padding gives −∞. NaN propagates.
Tensor max_pool(const Tensor& x, const Shape& window, const WindowOptions& options = {});
/// The same, with the positions of the largest elements (i64 [N, counts.., C]), counted in
/// row-major order; −1 for a window entirely in the padding.
ValuesAndIndices max_pool_with_indices(const Tensor& x, const Shape& window,
                                       const WindowOptions& options = {});

struct AveragePoolOptions {
  Shape stride = {};                   ///< Default: the window size, so that windows do not
                                       ///< overlap.
  Shape before = {}, after = {};       ///< 0
  Shape dilation = {};                 ///< 1
  bool count_padding = false;          ///< Divide by all taps, including those in the padding.
  std::optional<double> divisor = {};  ///< Divide by this instead: 1 for sums.
};
/// The mean over each window; NaN for a window entirely in the padding, unless padding counts.
Tensor average_pool(const Tensor& x, const Shape& window, const AveragePoolOptions& options = {});

/// Maximum, or mean, over counts[a] windows on axis a, which divide its n positions evenly: window
/// i is [⌊i·n/count⌋, ⌈(i + 1)·n/count⌉). {1, 1}: one window. Throws Error unless counts are
/// positive.
Tensor adaptive_max_pool(const Tensor& x, const Shape& counts);
Tensor adaptive_average_pool(const Tensor& x, const Shape& counts);

}  // namespace ladon
