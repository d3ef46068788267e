#pragma once
// Interactive page of lesson 8: judge data sets by their evidence; set the number of targets and
// the number of draws of the estimate.

#include "ladon/examples/common/page/page.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"

namespace ladon::example {

/// `x` are the inputs [24, 2, 2]; `y` the targets [24, 2·sets] of the data sets, first those from
/// one head, then those from infinitely many; `limit` and `head` are the kernels of infinitely many
/// heads and of one head. `log_b` [8, sets] are the lesson's log Bayes factors, two rows for each
/// of 3, 6, 12 and 24 targets: one for the sets from one head, one for those from infinitely many.
Page page(const Tensor& x, const Tensor& y, const Tensor& limit, const infinite::LatentKernel& head,
          const Tensor& log_b);

}  // namespace ladon::example
