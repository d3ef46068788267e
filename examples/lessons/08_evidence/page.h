#pragma once
// The page of lesson 8: data sets to judge by their evidence; targets per data set and draws of the
// estimate to turn.

#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon::example {

/// x: inputs [24, 2, 2]; y: targets [24, 2·sets], of the sets from one head first; limit, head:
/// kernels of infinitely many heads and of one; log_b [8, sets]: ln B by the run, of 3, 6, 12 and
/// 24 targets, of each for the sets from one head and for those from infinitely many.
Page page(const Tensor& x, const Tensor& y, const Tensor& limit, const infinite::LatentKernel& head,
          const Tensor& log_b);

}  // namespace ladon::example
