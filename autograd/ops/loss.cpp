#include "ladon/autograd/ops/loss.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/core/error.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// The targets of cross_entropy and nll_loss after checks. All members but the scalar `total` have
/// the shape of the targets. `weight` and `total` are differentiable with respect to the class
/// weights.
struct Targets {
  Tensor index;    ///< i64; 0 where the target is ignored.
  Tensor counted;  ///< bool; false where the target is ignored.
  Tensor weight;   ///< Weight of the target's class; 0 where it is ignored.
  Tensor total;    ///< Sum of `weight`, or 1 if it is 0.
};

/// Reads the targets, separately for each example if they are mapped (core/mapped.h).
Targets read_targets(const char* operation, const Tensor& x, const Tensor& target,
                     const CrossEntropyOptions& options) {
  const std::int64_t classes = x.size(-1), count = target.count();
  const Tensor all = mapped::show(target);
  const std::vector<std::int64_t> given = all.to_vector<std::int64_t>();
  Targets result{zeros(all.shape(), i64), zeros(all.shape(), boolean), {}, {}};
  auto* index = result.index.mutable_data<std::int64_t>();
  bool* counted = result.counted.mutable_data<bool>();
  std::vector<double> counts(
      static_cast<std::size_t>(target.mapped() ? target.examples() : 1));  // number of targets per
                                                                           // example
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == options.ignore_index) continue;
    LADON_CHECK(given[i] >= 0 && given[i] < classes, operation, "target ", given[i],
                " at position ", i, " is not one of ", classes,
                " classes and is not ignore_index (", options.ignore_index, ")");
    index[i] = given[i];
    counted[i] = true;
    counts[i / static_cast<std::size_t>(count)] += 1;
  }
  if (target.mapped())
    for (Tensor* part : {&result.index, &result.counted})
      *part = mapped::hide(*part, target.levels());

  if (options.weight.defined()) {
    const Tensor own = index_select(options.weight, 0, flatten(result.index));
    const Tensor shaped = reshape(cast(own, x.dtype()), target.shape());
    result.weight = where(result.counted, shaped, 0);
    const Tensor total = sum(cast(result.weight, f64));
    result.total = cast(where(equal(total, 0), 1, total), x.dtype());
    return result;
  }
  result.weight = cast(result.counted, x.dtype());
  for (double& rows : counts) rows = std::max(rows, 1.0);
  result.total = !target.mapped()
                     ? scalar(counts[0], x.dtype())
                     : mapped::hide(cast(from_vector(counts, {target.examples()}), x.dtype()),
                                    target.levels());
  return result;
}

/// The mean over an empty batch is undefined, and would hide that there was no data.
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

/// w·x, and 0 where w is 0 and x infinite: an element of weight 0 contributes nothing.
Tensor weighted(const Tensor& w, const Tensor& x) {
  const Tensor y = w * x;
  if (all(isfinite(mapped::show(y))).item<bool>()) return y;
  return w * masked_fill(x, logical_and(equal(w, 0), equal(abs(x), HUGE_VAL)), 0);
}

/// −weight·log_p[target]:  log_p [.., classes] → [..].
Tensor pick(const Tensor& log_p, const Targets& t) {
  return -weighted(t.weight, squeeze(gather(log_p, -1, unsqueeze(t.index, -1)), -1));
}

/// The scores x, with 0 in ignored rows, so that the values of those rows, even NaN, do not affect
/// derivatives.
Tensor counted_rows(const Tensor& x, const Targets& t) {
  const Tensor counted = unsqueeze(t.counted, -1);
  return all(mapped::show(t.counted)).item<bool>() ? x : where(counted, x, 0);
}

/// Sets ignored rows to 0, then reduces; the mean divides by the sum of the weights.
Tensor reduce(const Tensor& rows, const Targets& t, Reduction reduction) {
  const Tensor loss = where(t.counted, rows, scalar(0, rows.dtype()));
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::mean ? sum(loss) / t.total : sum(loss);
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
    const Tensor spread = sum(w.defined() ? weighted(cast(w, log_p.dtype()), log_p) : log_p, -1);
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

/// Throws Error where `weight` would broadcast `losses` to a larger shape.
void check_weight(const char* operation, const char* what, const Tensor& weight,
                  const Tensor& losses) {
  if (!weight.defined()) return;
  LADON_CHECK(broadcast_shapes(operation, weight.shape(), losses.shape()) == losses.shape(),
              operation, "the ", what, " has shape ", weight.shape(), ", the logits ",
              losses.shape(), "; it must broadcast to the logits");
}

}  // namespace

Tensor mse_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_alike("mse_loss", prediction, target, reduction);
  return reduce(square(prediction - target), reduction);
}

Tensor l1_loss(const Tensor& prediction, const Tensor& target, Reduction reduction) {
  check_alike("l1_loss", prediction, target, reduction);
  return reduce(abs(prediction - target), reduction);
}

// With e = prediction − target and c = e clamped to [−δ, δ], the loss is c·(e − c/2): e²/2 for
// |e| ≤ δ, and δ·(|e| − δ/2) outside.
Tensor huber_loss(const Tensor& prediction, const Tensor& target, double delta,
                  Reduction reduction) {
  check_alike("huber_loss", prediction, target, reduction);
  LADON_CHECK(delta > 0, "huber_loss", "delta is ", delta, "; it must be positive");
  const Tensor e = prediction - target, c = clamp(e, -delta, delta);
  return reduce(c * (e - 0.5 * c), reduction);
}

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, double beta,
                      Reduction reduction) {
  check_alike("smooth_l1_loss", prediction, target, reduction);
  LADON_CHECK(beta > 0, "smooth_l1_loss", "beta is ", beta,
              "; it must be positive (its limit at 0 is l1_loss)");
  // huber_loss/β, without β², which may overflow or underflow the dtype
  const Tensor e = prediction - target, c = clamp(e, -beta, beta);
  return reduce((c / beta) * (e - 0.5 * c), reduction);
}

// −ln σ(x) = softplus(−x) and −ln(1 − σ(x)) = softplus(x): no cancellation, so small losses are
// accurate.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyOptions& options) {
  const char* name = "binary_cross_entropy_with_logits";
  check_floating(name, logits);
  check_alike(name, logits, target, options.reduction);
  check_weight(name, "weight", options.weight, logits);
  check_weight(name, "pos_weight", options.pos_weight, logits);
  const Tensor t = cast(target, promote(target.dtype(), logits.dtype()));
  const Tensor positive = options.pos_weight.defined() ? t * options.pos_weight : t;
  const Tensor losses = weighted(positive, softplus(-logits)) + weighted(1 - t, softplus(logits));
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
  LADON_CHECK(eps > 0, "cosine_similarity", "eps is ", eps, "; it must be positive");
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  const int last = shape.rank();
  const int k =
      detail::normalize_axis("cosine_similarity", axis, last) - last;  // counted from the end
  const auto unit = [&](const Tensor& x) {
    LADON_CHECK(x.rank() >= -k, "cosine_similarity", "axis ", axis, " of shapes ", a.shape(),
                " and ", b.shape(), " is not in both");
    Shape whole = x.shape();  // an axis of size 1 is expanded before the norm is taken
    whole[x.rank() + k] = shape[last + k];
    const Tensor y = expand(x, whole);
    return y / maximum(norm(y, k, keep_dims), eps);
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
