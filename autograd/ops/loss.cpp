#include "ladon/autograd/ops/loss.h"

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

/// The targets, checked, in the form the losses use. All but `total` have the targets' shape.
struct Targets {
  Tensor index;      ///< i64; 0 where the target is ignored.
  Tensor counted;    ///< bool; false where the target is ignored.
  Tensor weight;     ///< Of the target's class; 0 where it is ignored.
  double total = 0;  ///< Sum of the weights.
};

template <class T>
Targets read_targets(const char* operation, const Tensor& x, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const std::int64_t classes = x.size(-1);
  const std::vector<std::int64_t> given = target.to_vector<std::int64_t>();
  std::vector<T> class_weight;  // empty: all 1
  if (options.weight.defined()) class_weight = options.weight.to_vector<T>();

  Targets result{zeros(target.shape(), i64), zeros(target.shape(), boolean),
                 zeros(target.shape(), x.dtype())};
  auto* index = result.index.mutable_data<std::int64_t>();
  bool* counted = result.counted.mutable_data<bool>();
  T* weight = result.weight.mutable_data<T>();
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == options.ignore_index) continue;
    LADON_CHECK(given[i] >= 0 && given[i] < classes, operation, "target ", given[i],
                " at position ", i, " is not one of ", classes,
                " classes and is not ignore_index (", options.ignore_index, ")");
    index[i] = given[i];
    counted[i] = true;
    weight[i] = class_weight.empty() ? T(1) : class_weight[static_cast<std::size_t>(given[i])];
    result.total += static_cast<double>(weight[i]);
  }
  return result;
}

/// A mean over an empty batch means nothing, and hides that there was no data.
void check_not_empty(const char* operation, const Tensor& x, const Tensor& target,
                     Reduction reduction) {
  LADON_CHECK(reduction != Reduction::mean || target.count() > 0, operation,
              "the batch is empty: shapes ", x.shape(), " and ", target.shape(),
              "; a mean needs at least one row");
}

Targets check_targets(const char* operation, const Tensor& x, const Tensor& target,
                      const CrossEntropyOptions& options) {
  check_defined(operation, {x, target});
  LADON_CHECK(x.rank() >= 1, operation, "needs an axis of classes, got a tensor of shape ",
              x.shape());
  LADON_CHECK(target.dtype() == i64, operation, "targets are class indices (i64), got ",
              target.dtype());
  LADON_CHECK(target.shape() == x.shape().sub(0, x.rank() - 1), operation, "scores of shape ",
              x.shape(), " need targets of shape ", x.shape().sub(0, x.rank() - 1), ", got ",
              target.shape());
  LADON_CHECK(!options.weight.defined() || options.weight.shape() == Shape{x.size(-1)}, operation,
              "there are ", x.size(-1), " classes, the class weights have shape ",
              options.weight.shape());
  check_not_empty(operation, x, target, options.reduction);
  return visit_floating(operation, x.dtype(),
                        [&]<class T>() { return read_targets<T>(operation, x, target, options); });
}

/// −weight·log_p[target]:  log_p [.., classes] → [..].
Tensor pick(const Tensor& log_p, const Targets& t) {
  return -(t.weight * squeeze(gather(log_p, -1, unsqueeze(t.index, -1)), -1));
}

/// 0 where ignored, whatever the scores there; then summed, or divided by the weights as well.
Tensor reduce(const Tensor& rows, const Targets& t, Reduction reduction) {
  const Tensor loss = where(t.counted, rows, scalar(0, rows.dtype()));
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean && t.total > 0 ? sum(loss) / t.total : sum(loss);
}

}  // namespace

// With log p = log_softmax(logits):  −(1 − ε)·w_t·log p_t − ε/classes·Σ_c w_c·log p_c.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const double smoothing = options.label_smoothing;
  LADON_CHECK(smoothing >= 0 && smoothing <= 1, "cross_entropy", "label_smoothing is ", smoothing,
              "; it must lie in [0, 1]");
  const Targets t = check_targets("cross_entropy", logits, target, options);
  const Tensor log_p = log_softmax(logits, -1);
  Tensor loss = pick(log_p, t);
  if (smoothing > 0) {
    const Tensor& w = options.weight;
    const Tensor spread = sum(w.defined() ? log_p * cast(w, log_p.dtype()) : log_p, -1);
    loss = loss * (1 - smoothing) - spread * (smoothing / static_cast<double>(logits.size(-1)));
  }
  return reduce(loss, t, options.reduction);
}

Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const CrossEntropyOptions& options) {
  LADON_CHECK(options.label_smoothing == 0, "nll_loss", "label_smoothing is ",
              options.label_smoothing, "; only cross_entropy smooths");
  const Targets t = check_targets("nll_loss", log_probability, target, options);
  return reduce(pick(log_probability, t), t, options.reduction);
}

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_defined("mse_loss", {prediction, target});
  LADON_CHECK(prediction.shape() == target.shape(), "mse_loss", "the prediction has shape ",
              prediction.shape(), ", the target ", target.shape(),
              "; reshape or expand one of them");
  check_not_empty("mse_loss", prediction, target, reduction);
  const Tensor squares = square(prediction - target);
  if (reduction == Reduction::none) return squares;
  return reduction == Reduction::mean ? mean(squares) : sum(squares);
}

}  // namespace ladon
