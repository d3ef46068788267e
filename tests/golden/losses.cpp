// ONNX operators: classification losses. In ONNX the classes are at axis 1, in Ladon at the last
// axis.

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// [n, classes, d1, ..] → [n, d1, .., classes].
Tensor classes_last(const Tensor& x) {
  std::vector<int> order;
  for (int i = 0; i < x.rank(); ++i)
    if (i != 1) order.push_back(i);
  order.push_back(1);
  return permute(x, order);
}

CrossEntropyOptions options_of(const Case& c) {
  const std::string reduction = c.text("reduction", "mean");
  LADON_CHECK(reduction == "mean" || reduction == "sum" || reduction == "none", c.op(),
              "unknown reduction ", reduction);
  CrossEntropyOptions options;
  options.weight = c.optional(2);
  options.ignore_index = c.integer("ignore_index", options.ignore_index);
  options.reduction = reduction == "mean"  ? Reduction::mean
                      : reduction == "sum" ? Reduction::sum
                                           : Reduction::none;
  return options;
}

}  // namespace

void add_losses(Table& t) {
  t["NegativeLogLikelihoodLoss"] = [](const Case& c) -> Tensors {
    return {nll_loss(classes_last(c.in(0)), c.in(1), options_of(c))};
  };
  t["SoftmaxCrossEntropyLoss"] = [](const Case& c) -> Tensors {
    const Tensor loss = cross_entropy(classes_last(c.in(0)), c.in(1), options_of(c));
    return {loss, log_softmax(c.in(0), 1)};
  };
}

}  // namespace ladon::golden
