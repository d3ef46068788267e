// ONNX operators: softmax and normalizations.

#include <algorithm>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// [.. before axis] and [axis ..] merged: what operator sets before 13 meant by an axis of softmax.
Tensor merged_at(const Tensor& x, int axis) {
  return reshape(x, {x.shape().sub(0, axis).count(), x.shape().sub(axis, x.rank()).count()});
}

using AlongAxis = Tensor (*)(const Tensor&, int);
template <AlongAxis f>
Tensors along_axis(const Case& c) {
  const Tensor& x = c.in(0);
  const bool merging = c.opset() < 13;
  const int axis = c.axis("axis", merging ? 1 : -1, x.rank());
  if (merging) return {reshape(f(merged_at(x, axis), 1), x.shape())};
  return {f(x, axis)};
}

Tensor hardmax(const Tensor& x, int axis) {
  const Tensor on = one_hot(argmax(x, axis), x.size(axis), x.dtype());
  std::vector<int> order;
  for (int i = 0; i < x.rank() - 1; ++i) order.push_back(i);
  order.insert(order.begin() + axis, x.rank() - 1);
  return permute(on, order);
}

std::vector<int> axes_from(const Tensor& x, int axis) {
  std::vector<int> axes;
  for (; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

/// x's axes from `axis` on are normalized together: merged into one, or (where the affine tensors
/// broadcast within them) normalized alone and scaled after.
template <class Norm>
Tensor normalize_from(const Tensor& x, int axis, const Tensor& scale, const Tensor& bias,
                      const Norm& norm) {
  const Shape block = x.shape().sub(axis, x.rank());
  const auto whole = [&](const Tensor& a) { return !a.defined() || a.shape() == block; };
  const auto flat = [&](const Tensor& a) {
    return a.defined() ? reshape(a, {a.count()}) : Tensor();
  };
  if (whole(scale) && whole(bias))
    return reshape(norm(merged_at(x, axis), flat(scale), flat(bias)), x.shape());
  Tensor y = reshape(norm(merged_at(x, axis), Tensor(), Tensor()), x.shape());
  if (scale.defined()) y = y * scale;
  return bias.defined() ? y + bias : y;
}

Tensors layer_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  const double eps = c.number("epsilon", 1e-5);
  const int axis = c.axis("axis", -1, x.rank());
  const auto norm = [eps](const Tensor& rows, const Tensor& w, const Tensor& b) {
    return layer_norm(rows, w, b, eps);
  };
  const Tensor y = normalize_from(x, axis, c.optional(1), c.optional(2), norm);
  const Axes axes = axes_from(x, axis);
  const DType stash = onnx_dtype(c.integer("stash_type", 1));
  const Tensor deviation = rsqrt(var(x, axes, keep_dims, 0) + eps);
  return {y, cast(mean(x, axes, keep_dims), stash), cast(deviation, stash)};
}

Tensors rms_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  const double eps = c.number("epsilon", 1e-5);
  const int axis = c.axis("axis", -1, x.rank());
  const auto norm = [eps](const Tensor& rows, const Tensor& w, const Tensor&) {
    return rms_norm(rows, w, eps);
  };
  return {normalize_from(x, axis, c.optional(1), Tensor(), norm)};
}

Tensors batch_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  LADON_CHECK(x.rank() >= 2, c.op(), "needs an axis of channels, got shape ", x.shape());
  const bool training = c.flag("training_mode", false);
  const double momentum = c.number("momentum", 0.9);
  std::vector<int> axes = axes_from(x, 1);
  axes[0] = 0;  // all but the channels
  const Tensor centre = training ? mean(x, axes) : c.in(3);
  const Tensor spread = training ? var(x, axes, Dims::drop, 0) : c.in(4);
  const Tensor y = channels_first(
      batch_norm(channels_last(x), centre, spread, c.in(1), c.in(2), c.number("epsilon", 1e-5)));
  const auto running = [&](const Tensor& old, const Tensor& now) {
    return old * momentum + now * (1 - momentum);
  };
  if (!training) return {y};
  return {y, running(c.in(3), centre), running(c.in(4), spread)};
}

Tensors instance_normalization(const Case& c) {
  return {channels_first(
      instance_norm(channels_last(c.in(0)), c.in(1), c.in(2), c.number("epsilon", 1e-5)))};
}

// Before operator set 21 scale and bias are one per group.
Tensors group_normalization(const Case& c) {
  const Tensor x = channels_last(c.in(0));
  const std::int64_t groups = c.integer("num_groups", 1), channels = x.size(-1);
  LADON_CHECK(groups > 0, c.op(), groups, " groups of shape ", x.shape());
  const auto spread = [&](const Tensor& a) {
    if (a.count() == channels) return a;
    return reshape(expand(unsqueeze(a, 1), {groups, channels / groups}), {channels});
  };
  return {channels_first(
      group_norm(x, groups, spread(c.in(1)), spread(c.in(2)), c.number("epsilon", 1e-5)))};
}

Tensors lp_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  const int axis = c.axis("axis", -1, x.rank());
  const Tensor n = c.integer("p", 2) == 1 ? sum(abs(x), axis, keep_dims) : norm(x, axis, keep_dims);
  return {where(equal(n, 0), zeros_like(x), x / n)};
}

Tensors mean_variance_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  std::vector<int> axes{0, 2, 3};
  if (c.has("axes")) axes = to_axes(c.integers("axes"));
  return {(x - mean(x, axes, keep_dims)) / (sqrt(var(x, axes, keep_dims, 0)) + 1e-9)};
}

// x / (bias + alpha/size·Σ x²)^beta, the sum over `size` neighbouring channels: a product with the
// band of ones that neighbours form, [c, c] · [n, c, rest] → [n, c, rest].
Tensors local_response_normalization(const Case& c) {
  const Tensor& x = c.in(0);
  LADON_CHECK(x.rank() >= 2, c.op(), "needs an axis of channels, got shape ", x.shape());
  const std::int64_t size = c.integer("size", 1), channels = x.size(1);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  const Tensor band = tril(triu(ones({channels, channels}, x.dtype()), -before), after);
  const Shape rows{x.size(0), channels, x.shape().sub(2, x.rank()).count()};
  const Tensor total = reshape(matmul(band, reshape(square(x), rows)), x.shape());
  const Tensor base = total * (c.number("alpha", 1e-4) / static_cast<double>(size));
  return {x / pow(base + c.number("bias", 1), c.number("beta", 0.75))};
}

}  // namespace

void add_normalizations(Table& t) {
  t["Softmax"] = along_axis<softmax>;
  t["LogSoftmax"] = along_axis<log_softmax>;
  t["Hardmax"] = along_axis<hardmax>;
  t["LayerNormalization"] = layer_normalization;
  t["RMSNormalization"] = rms_normalization;
  t["BatchNormalization"] = batch_normalization;
  t["InstanceNormalization"] = instance_normalization;
  t["GroupNormalization"] = group_normalization;
  t["LpNormalization"] = lp_normalization;
  t["MeanVarianceNormalization"] = mean_variance_normalization;
  t["LRN"] = local_response_normalization;
}

}  // namespace ladon::golden
