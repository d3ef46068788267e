#include "ladon/layers/extra/images/batch_norm.h"

#include <limits>
#include <mutex>

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/norm.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/random.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/norm.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

BatchNorm::BatchNorm(const BatchNormOptions& o)
    : dim(o.dim),
      eps(o.eps),
      momentum(o.momentum),
      affine(o.affine),
      track_running_stats(o.track_running_stats) {
  LADON_CHECK(dim > 0, "BatchNorm", "dim must be positive, got ", dim);
  detail::check_size("BatchNorm", "eps", eps);
  LADON_CHECK(!momentum || (*momentum >= 0 && *momentum <= 1), "BatchNorm",
              "momentum must lie in [0, 1], got ", momentum.value_or(0));
  LADON_CHECK(track_running_stats || momentum == BatchNormOptions{}.momentum, "BatchNorm",
              "momentum is ", momentum ? detail::join(*momentum) : "nullopt",
              ", but track_running_stats is false, so there are no statistics for it; set it to "
              "true, or leave momentum at ",
              *BatchNormOptions{}.momentum);
  if (affine) {
    weight = parameter(ones({dim}));
    bias = parameter(zeros({dim}));
  }
  if (!track_running_stats) return;
  running_mean = zeros({dim});
  running_var = ones({dim});
  num_batches_tracked = scalar(0, i64);
}

namespace {

/// The vectors of x as rows:  [.., dim] → [n, dim].
Tensor rows_of(const Tensor& x) {
  return reshape(x, {x.shape().sub(0, x.rank() - 1).count(), x.size(-1)});
}

/// Indices of the visible vectors among all vectors of x [.., dim].
Tensor visible_places(const Tensor& x, const Tensor& mask) {
  const Shape wanted = {x.size(0), x.shape().sub(1, x.rank() - 1).count()};
  LADON_CHECK(mask.dtype() == boolean && mask.shape() == wanted, "BatchNorm", "mask must be bool ",
              wanted, ", got ", mask.dtype(), " ", mask.shape());
  return select(nonzero(flatten(mask)), 1, 0);
}

}  // namespace

Tensor BatchNorm::forward_masked(const Tensor& x, const Tensor& mask) const {
  LADON_CHECK(x.rank() > 1 && x.size(-1) == dim, "BatchNorm", "expects [N, .., ", dim,
              "], got shape ", x.shape());
  detail::check_not_moved("BatchNorm", affine, weight);
  detail::check_not_moved("BatchNorm", track_running_stats, running_mean);
  const bool tracked = running_mean.defined(), own = training() || !tracked;
  detail::refuse_in_evaluation("BatchNorm", training(), own);
  detail::warn_of_precision("BatchNorm", x, weight);
  const Tensor places = own && mask.defined() ? visible_places(x, mask) : Tensor();
  const std::int64_t n = places.defined() ? places.size(0) : x.count() / dim;
  LADON_CHECK(!own || n > 1, "BatchNorm", "needs at least two vectors to find their variance, got ",
              n, training() ? "; pass a larger batch, or call eval()" : "; pass a larger batch");
  const auto normalized = [&](const Tensor& w, const Tensor& b) -> NormalizedBatch {
    if (!own) return {batch_norm(x, running_mean, running_var, w, b, eps), {}, {}};
    if (!places.defined()) return normalize_batch(x, w, b, eps);
    NormalizedBatch visible = normalize_batch(index_select(rows_of(x), 0, places), w, b, eps);
    const Tensor none = zeros({x.count() / dim, dim}, visible.y.dtype());
    const Tensor to = expand(unsqueeze(places, 1), {n, dim});
    visible.y = reshape(scatter(none, 0, to, visible.y), x.shape());
    return visible;
  };
  const NormalizedBatch batch = normalized(weight, bias);
  LADON_CHECK(!(training() && tracked && batch.mean.mapped()), "BatchNorm",
              "batch statistics differ between the ", batch.mean.examples(),
              " examples of vmap, so they cannot update the running statistics, which the examples "
              "share; did you mean eval()?");
  if (ParameterUses::active() && weight.defined())
    ParameterUses::report_affine(normalized({}, {}).y, batch.y);
  if (training() && tracked && !detail::replaying())
    count(batch.mean.detach(), batch.var.detach(), n);
  return batch.y;
}

void BatchNorm::count(const Tensor& centre, const Tensor& spread, std::int64_t n) const {
  static std::mutex editing;
  const std::lock_guard lock(editing);
  const NoGrad no_grad;
  LADON_CHECK(running_mean.shape() == centre.shape() && running_var.shape() == spread.shape(),
              "BatchNorm", "running_mean and running_var must be ", centre.shape(), ", got ",
              running_mean.shape(), " and ", running_var.shape());
  add_(num_batches_tracked, scalar(1, i64));
  const double newest = momentum.value_or(1 / number_of("BatchNorm", num_batches_tracked));
  const double unbiased = static_cast<double>(n) / static_cast<double>(n - 1);
  if (newest == 0) return;  // 0 times a statistic that overflowed would be NaN
  mul_(running_mean, 1 - newest);
  add_(running_mean, cast(centre, running_mean.dtype()), newest);
  mul_(running_var, 1 - newest);
  add_(running_var, cast(spread, running_var.dtype()), newest * unbiased);
  const double largest = visit_floating("BatchNorm", running_var.dtype(), []<class T>() {
    return static_cast<double>(std::numeric_limits<T>::max());
  });
  copy_(running_var, minimum(running_var, largest));  // an ∞ would stay in the average
}

infinite::KernelNode BatchNorm::limit(const infinite::KernelNode&) const {
  detail::fail(
      "BatchNorm",
      "has no limit of infinite width: each output depends on the whole batch, so it has no "
      "kernel of two inputs; use LayerNorm or RmsNorm, or leave it out");
}

void BatchNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
  if (!running_mean.defined()) return;
  v.buffer("running_mean", running_mean);
  v.buffer("running_var", running_var);
  v.buffer("num_batches_tracked", num_batches_tracked);
}

std::string BatchNorm::describe() const { return detail::join("BatchNorm(", dim, ")"); }

}  // namespace ladon
