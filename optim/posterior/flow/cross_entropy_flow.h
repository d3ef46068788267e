#pragma once
// Training an infinitely wide classifier by gradient flow on the cross-entropy.
//
// With the tangent kernel Θ fixed, as it is at infinite width, the logits of a network move by
//   df/dt = −η·Θ(·, X)·(softmax(f(X)) − Y)/N
// under gradient descent with learning rate η on the mean cross-entropy of N examples (Y one-hot),
// in the limit of small steps (Lee et al. 2019, §2.2). There is no closed form, but one
// differential equation for N·C numbers c(t), of which every output is a linear function:
//   f_t(x) = f_0(x) + Θ(x, X)·c(t),   dc/dt = η·(Y − softmax(f_0(X) + Θ·c))/N,   c(0) = 0.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

struct CrossEntropyFlowOptions {
  double learning_rate = 1;  ///< η
  double tolerance =
      1e-6;             ///< Of the logits on the training inputs, absolute and relative, a step.
  Tensor initial = {};  ///< f_0 on the training inputs, [N, C]; undefined: 0.
};

/// c, [N, C], at each of `times`, which ascend from 0 and count steps of gradient descent: by the
/// pair of orders 5 and 4 of Dormand and Prince (1980), its step chosen so that the difference of
/// both is within the tolerance. A step moves about 3/(η·λ_max(Θ)/(2N)) at most, so the work grows
/// with the time. ntk [N, N], labels i64 [N]. f64. Throws Error where shapes disagree, the kernel
/// is not symmetric, a label is outside [0, classes), times do not ascend or are not finite, the
/// rate is not positive or the tolerance outside (0, 0.1], and where more than a million steps
/// would be needed.
std::vector<Tensor> cross_entropy_flow(const Tensor& ntk, const Tensor& labels,
                                       std::int64_t classes, const std::vector<double>& times,
                                       const CrossEntropyFlowOptions& options = {});

}  // namespace ladon
