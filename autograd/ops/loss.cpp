#include "ladon/autograd/ops/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/autograd/piecewise.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/moments.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

using kernels::Loss;

/// The targets of cross_entropy and nll_loss after checks. All members but the scalar `total` have
/// the shape of the targets. `weight` and `total` are differentiable with respect to the class
/// weights.
struct Targets {
  Tensor index;    ///< i64; 0 where the target is ignored.
  Tensor counted;  ///< bool; false where the target is ignored. Undefined if no target is ignored.
  Tensor weight;   ///< Weight of the target's class; 0 if ignored. Undefined: all classes weigh 1.
  Tensor total;    ///< Sum of the weights of all targets that count, or 1 if the sum is 0.
  /// Power of two by which `weight` and `total` were divided; 1 if undefined. It is set for a mean
  /// whose total is so large or small that the total or a weighted loss may leave the range of the
  /// dtype although the mean does not.
  Tensor scale;
};

/// Sets result.index and result.counted. Returns the number of targets that are not ignored, one
/// number per example if the targets are mapped by a vmap (core/mapped.h).
std::vector<double> read_indices(const char* operation, const Tensor& target, std::int64_t classes,
                                 std::int64_t ignored, Targets& result) {
  const Tensor all = mapped::show(target);
  const std::vector<std::int64_t> given = all.to_vector<std::int64_t>();
  const auto per_example = static_cast<std::size_t>(target.count());
  std::vector<double> counts(target.mapped() ? target.examples() : 1);
  bool whole = true;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool counts_here = given[i] != ignored;
    whole = whole && counts_here;
    LADON_CHECK(!counts_here || (given[i] >= 0 && given[i] < classes), operation, "target ",
                given[i], " at position ", i, " is not one of ", classes,
                " classes and is not ignore_index (", ignored, ")");
    counts[i / per_example] += counts_here ? 1 : 0;
  }
  result.index = kernels::clone(target);  // a copy: the caller may edit `target` before the
                                          // gradient is taken
  if (whole) return counts;
  result.counted = not_equal(target, from_vector(std::vector<std::int64_t>{ignored}, {}));
  result.index = where(result.counted, target, 0);
  return counts;
}

/// w where the target is not ignored, else 0.
Tensor where_counted(const Targets& t, const Tensor& w) {
  return t.counted.defined() ? where(t.counted, w, scalar(0, w.dtype())) : w;
}

Targets read_targets(const char* operation, const Tensor& x, const Tensor& target,
                     const CrossEntropyOptions& options) {
  Targets result;
  std::vector<double> counts =
      read_indices(operation, target, x.size(-1), options.ignore_index, result);
  if (options.weight.defined()) {
    const Tensor own = index_select(options.weight, 0, flatten(result.index));
    result.weight = where_counted(result, reshape(cast(own, x.dtype()), target.shape()));
    const Tensor all = sum(cast(result.weight, f64)), total = where(equal(all, 0), 1, all);
    result.total = cast(total, x.dtype());
    if (options.reduction == Reduction::mean && !kernels::all_within(total, 0x1p-64, 0x1p64)) {
      result.scale = kernels::power_of_two(total.detach());
      result.weight = cast(cast(result.weight, f64) / result.scale, x.dtype());
      result.total = cast(total / result.scale, x.dtype());
    }
    return result;
  }
  for (double& rows : counts) rows = std::max(rows, 1.0);
  result.total = !target.mapped()
                     ? scalar(counts[0], x.dtype())
                     : mapped::hide(cast(from_vector(counts, {target.examples()}), x.dtype()),
                                    target.levels());
  return result;
}

/// Throws Error for the mean over an empty batch, which would hide that there was no data.
void check_not_empty(const char* operation, const Tensor& x, const Tensor& target,
                     Reduction reduction) {
  LADON_CHECK(reduction != Reduction::mean || target.count() > 0, operation,
              "the batch is empty: shapes ", x.shape(), " and ", target.shape(),
              "; a mean needs at least one row");
}

Targets check_targets(const char* operation, const Tensor& x, const Tensor& target,
                      const CrossEntropyOptions& options) {
  check_defined(operation, {x, target});
  LADON_CHECK(x.rank() >= 1, operation, "needs scores [.., classes], got a tensor of shape ",
              x.shape());
  LADON_CHECK(target.dtype() == i64, operation, "targets are class indices (i64), got ",
              target.dtype(), "; use cast(targets, i64), or argmax(targets) for one-hot rows");
  LADON_CHECK(target.shape() == x.shape().sub(0, x.rank() - 1), operation, "scores of shape ",
              x.shape(), " need targets of shape ", x.shape().sub(0, x.rank() - 1), ", got ",
              target.shape());
  LADON_CHECK(!options.weight.defined() || options.weight.shape() == Shape{x.size(-1)}, operation,
              "there must be one weight per class, but there are ", x.size(-1),
              " classes, and the class weights have shape ", options.weight.shape());
  check_not_empty(operation, x, target, options.reduction);
  check_floating(operation, x);
  return read_targets(operation, x, target, options);
}

/// w·x, or 0 where w is 0 and x is infinite: an element of weight 0 contributes nothing.
Tensor weighted(const Tensor& w, const Tensor& x) {
  const Tensor y = w * x;
  if (all(isfinite(mapped::show(y))).item<bool>()) return y;
  return w * masked_fill(x, logical_and(equal(w, 0), equal(abs(x), HUGE_VAL)), 0);
}

/// The loss −weight·log_p[target] of each row, before any reduction:  log_p [.., classes] → [..].
Tensor pick(const Tensor& log_p, const Targets& t) {
  const Tensor own = squeeze(gather(log_p, -1, unsqueeze(t.index, -1)), -1);
  return -(t.weight.defined() ? weighted(t.weight, own) : own);
}

/// The scores x, with 0 in ignored rows, so that the values of those rows, even NaN, do not affect
/// derivatives.
Tensor counted_rows(const Tensor& x, const Targets& t) {
  return t.counted.defined() ? where(unsqueeze(t.counted, -1), x, 0) : x;
}

/// The class weights w in a dtype, divided by t.scale as t.weight is.
Tensor scaled(const Tensor& w, const Targets& t, DType dtype) {
  return cast(t.scale.defined() ? cast(w, f64) / t.scale : w, dtype);
}

/// Sets ignored rows to 0, then reduces; the mean divides by the sum of the weights.
Tensor reduce(const Tensor& rows, const Targets& t, Reduction reduction) {
  const Tensor loss = where_counted(t, rows);
  if (reduction == Reduction::none) return loss;
  if (reduction == Reduction::sum) return sum(loss);
  const Tensor mean = sum(loss) / t.total;
  if (all(isfinite(mapped::show(mean))).item<bool>()) return mean;
  return sum(loss / t.total);  // the sum above has overflowed, the mean need not
}

}  // namespace

// The loss of a row, with target class t, class weights w, log p = log_softmax(logits), and label
// smoothing ε:  −(1 − ε)·w_t·log p_t − ε/classes·Σ_c w_c·log p_c.
Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const double smoothing = options.label_smoothing;
  LADON_CHECK(smoothing >= 0 && smoothing <= 1, "cross_entropy", "label_smoothing is ", smoothing,
              "; it must lie in [0, 1]");
  const Targets t = check_targets("cross_entropy", logits, target, options);
  const Tensor log_p = log_softmax(counted_rows(logits, t), -1);
  Tensor loss = pick(log_p, t);
  if (smoothing > 0) {
    const Tensor& w = options.weight;
    const Tensor spread =
        sum(w.defined() ? weighted(scaled(w, t, log_p.dtype()), log_p) : log_p, -1);
    loss = loss * (1 - smoothing) - spread * (smoothing / static_cast<double>(logits.size(-1)));
  }
  return reduce(loss, t, options.reduction);
}

Tensor nll_loss(const Tensor& log_probability, const Tensor& target,
                const CrossEntropyOptions& options) {
  LADON_CHECK(options.label_smoothing == 0, "nll_loss", "label_smoothing is ",
              options.label_smoothing, ", but must be 0 here; only cross_entropy smooths labels");
  const Targets t = check_targets("nll_loss", log_probability, target, options);
  return reduce(pick(log_probability, t), t, options.reduction);
}

namespace {

/// Throws Error unless shapes are equal: broadcasting in a loss would hide a transposed batch.
void check_alike(const char* operation, const Tensor& prediction, const Tensor& target,
                 Reduction reduction) {
  check_defined(operation, {prediction, target});
  LADON_CHECK(prediction.shape() == target.shape(), operation, "the prediction has shape ",
              prediction.shape(), ", the target ", target.shape(),
              prediction.count() == target.count()
                  ? "; squeeze or reshape one of them (broadcasting would pair every prediction "
                    "with every target)"
                  : "; there must be one target per prediction");
  check_not_empty(operation, prediction, target, reduction);
}

Tensor reduce(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

/// Throws Error if `weight` would broadcast `losses` to a larger shape.
void check_weight(const char* operation, const char* what, const Tensor& weight,
                  const Tensor& losses) {
  if (!weight.defined()) return;
  LADON_CHECK(broadcast_shapes(operation, weight.shape(), losses.shape()) == losses.shape(),
              operation, "the ", what, " has shape ", weight.shape(), ", the logits ",
              losses.shape(), "; it must broadcast to the logits");
}

}  // namespace

namespace {

/// Losses of differences e = x − t in a common dtype. composed(g, e) is g·∂loss/∂e, and ∂e/∂t = −1.
template <class Composed>
Tensor loss_of_differences(const char* name, Loss f, const Tensor& prediction, const Tensor& target,
                           kernels::Numbers p, Composed composed) {
  const DType dtype = promote(promote(prediction.dtype(), target.dtype()), f32);
  return pointwise_loss(
      name, f, cast(prediction, dtype), cast(target, dtype), p,
      [=](const Tensor& g, const Tensor& x, const Tensor& t) { return composed(g, x - t); },
      [](const auto& by_prediction, const Tensor& g, const Tensor& x, const Tensor& t) {
        return -by_prediction(g, x, t);
      });
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_alike("mse_loss", prediction, target, reduction);
  const auto slope = [](const Tensor& g, const Tensor& e) { return g * (2.0 * e); };
  return reduce(loss_of_differences("mse_loss", Loss::squared, prediction, target, {}, slope),
                reduction);
}

Tensor l1_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_alike("l1_loss", prediction, target, reduction);
  const auto slope = [](const Tensor& g, const Tensor& e) { return g * sign(e); };
  return reduce(loss_of_differences("l1_loss", Loss::absolute, prediction, target, {}, slope),
                reduction);
}

namespace {

/// huber_loss with δ = `bound`, divided by `divisor`. With e = prediction − target and c = e
/// clamped to [−δ, δ], the loss is c·(e − c/2): e²/2 for |e| ≤ δ, and δ·(|e| − δ/2) outside. If δ
/// is outside the range of normal f32 numbers, so that it might round to 0 or ∞, the losses are
/// computed in f64.
Tensor clamped_loss(const char* name, const Tensor& prediction, const Tensor& target, double bound,
                    double divisor, Reduction reduction) {
  using Narrow = std::numeric_limits<float>;
  const DType dtype = promote(promote(prediction.dtype(), target.dtype()), f32);
  const DType wide = bound >= Narrow::min() && bound <= Narrow::max() ? dtype : f64;
  // e is divided before it is multiplied by g, because g·e may overflow or underflow
  const auto slope = [=](const Tensor& g, const Tensor& e) {
    return g * (clamp(e, -bound, bound) / divisor);
  };
  const Tensor losses = loss_of_differences(name, Loss::huber, cast(prediction, wide),
                                            cast(target, wide), {bound, divisor}, slope);
  return cast(reduce(losses, reduction), dtype);
}

}  // namespace

Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta,
                  Reduction reduction) {
  check_alike("huber_loss", prediction, target, reduction);
  LADON_CHECK(delta > 0, "huber_loss", "delta is ", delta, "; it must be positive");
  return clamped_loss("huber_loss", prediction, target, delta, 1, reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta,
                      Reduction reduction) {
  check_alike("smooth_l1_loss", prediction, target, reduction);
  LADON_CHECK(beta >= 0, "smooth_l1_loss", "beta is ", beta,
              "; it must be at least 0, where it is l1_loss");
  return beta == 0 ? l1_loss(prediction, target, reduction)
                   : clamped_loss("smooth_l1_loss", prediction, target, beta, beta, reduction);
}

namespace {

// −ln σ(x) = softplus(−x) and −ln(1 − σ(x)) = softplus(x): no cancellation, so small losses are
// accurate.
Tensor logistic_loss(const char* name, const Tensor& logits, const Tensor& target) {
  return pointwise_loss(
      name, Loss::logistic, logits, target, {},
      [](const Tensor& g, const Tensor& x, const Tensor& t) {
        return g * ((1 - t) * sigmoid(x) - t * sigmoid(-x));
      },
      [](const auto&, const Tensor& g, const Tensor& x, const Tensor& t) {
        // softplus(−x) − softplus(x) = −x; 0 where x is infinite and the loss is 0
        const Tensor certain = logical_and(equal(abs(x), HUGE_VAL), equal(t, sigmoid(x)));
        return g * masked_fill(-x, certain, 0);
      });
}

}  // namespace

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options) {
  const char* name = "binary_cross_entropy_with_logits";
  check_floating(name, logits);
  check_alike(name, logits, target, options.reduction);
  check_weight(name, "weight", options.weight, logits);
  check_weight(name, "pos_weight", options.pos_weight, logits);
  const DType dtype = promote(target.dtype(), logits.dtype());
  const Tensor x = cast(logits, dtype), t = cast(target, dtype);
  const Tensor losses =
      options.pos_weight.defined()
          ? weighted(t * options.pos_weight, softplus(-x)) + weighted(1 - t, softplus(x))
          : logistic_loss(name, x, t);
  return reduce(options.weight.defined() ? weighted(options.weight, losses) : losses,
                options.reduction);
}

// At p = 0 both ln p and ln q may be −∞. They are replaced by finite values there, because 0·∞
// would give NaN in the value or the gradient.
Tensor kl_div(const Tensor& log_probability, const Tensor& target, const KlDivOptions& options) {
  check_floating("kl_div", log_probability);
  check_floating("kl_div", target);
  LADON_CHECK(log_probability.rank() >= 1, "kl_div",
              "needs log probabilities [.., classes], got shape ", log_probability.shape());
  check_alike("kl_div", log_probability, target, options.reduction);
  const Tensor none = options.log_target ? equal(target, -HUGE_VAL) : equal(target, 0);
  const Tensor given = masked_fill(target, none, options.log_target ? 0 : 1);
  const Tensor p = options.log_target ? exp(given) : given;
  const Tensor log_p = options.log_target ? given : log(given);
  const Tensor terms = p * (log_p - masked_fill(log_probability, none, 0));
  return reduce(sum(terms, -1), options.reduction);
}

Tensor cosine_similarity(const Tensor& a, const Tensor& b, int axis, double eps) {
  check_floating("cosine_similarity", a);
  check_floating("cosine_similarity", b);
  for (const Tensor* x : {&a, &b}) check_positive("cosine_similarity", "eps", eps, x->dtype());
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  const int last = shape.rank();
  const int k =
      detail::normalize_axis("cosine_similarity", axis, last) - last;  // counted from the end
  const auto unit = [&](const Tensor& x) {
    LADON_CHECK(x.rank() >= -k, "cosine_similarity", "axis ", axis,
                " must be an axis of both tensors, but the shapes are ", a.shape(), " and ",
                b.shape(), "; unsqueeze one of them");
    Shape whole = x.shape();  // an axis of size 1 is expanded before the norm is taken
    whole[x.rank() + k] = shape[last + k];
    const Tensor y = expand(x, whole);
    const Tensor size = norm(y, k, keep_dims), far = equal(size, HUGE_VAL);
    if (!any(mapped::show(far)).item<bool>()) return y / maximum(size, eps);
    const Tensor scale = where(far, 0x1p-40, ones_like(size));  // makes norms of finite rows finite
    const Tensor near = y * scale;
    return near / maximum(norm(near, k, keep_dims), eps * scale);
  };
  return sum(unit(a) * unit(b), k);
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& label,
                             const CosineEmbeddingOptions& options) {
  const char* name = "cosine_embedding_loss";
  check_floating(name, a);
  check_floating(name, b);
  check_defined(name, {label});
  LADON_CHECK(a.rank() >= 1 && a.shape() == b.shape(), name, "the pairs have shapes ", a.shape(),
              " and ", b.shape(), "; both must have the same shape [.., n]");
  LADON_CHECK(label.shape() == a.shape().sub(0, a.rank() - 1), name, "pairs of shape ", a.shape(),
              " need labels of shape ", a.shape().sub(0, a.rank() - 1), ", got ", label.shape());
  LADON_CHECK(options.margin >= -1 && options.margin <= 1, name, "the margin is ", options.margin,
              "; it must lie in [-1, 1]");
  LADON_CHECK(!recorded({label}), name,
              "the labels require a gradient or have a tangent, but they only choose between two "
              "losses; pass label.detach()");
  for (const double l : mapped::show(label).to_vector<double>())
    LADON_CHECK(l == 1 || l == -1, name, "a label is ", l,
                "; it must be 1 (similar) or -1 (dissimilar)");
  check_not_empty(name, a, label, options.reduction);
  const Tensor c = cosine_similarity(a, b);
  return reduce(where(equal(label, 1), 1 - c, relu(c - options.margin)), options.reduction);
}

}  // namespace ladon
