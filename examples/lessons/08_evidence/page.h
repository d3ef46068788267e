#pragma once
// Interactive page of lesson 8: judge data sets by their evidence; set the number of targets and
// the number of draws of the estimate.

#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon::example {

/// x: inputs [24, 2, 2]; y: targets [24, 2·sets], first the sets from one head; limit, head:
/// kernels of infinitely many heads and of one; log_b [8, sets]: ln B of the run, for 3, 6, 12 and
/// 24 targets, each with a row for the sets from one head and one for those from infinitely many.
Page page(const Tensor& x, const Tensor& y, const Tensor& limit, const infinite::LatentKernel& head,
          const Tensor& log_b);

}  // namespace ladon::example
