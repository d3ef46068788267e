#include "ladon/layers/norm.h"

#include <limits>

#include "ladon/autograd/ops/norm.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

void detail::check_not_moved(const char* layer, bool given, const Tensor& tensor) {
  LADON_CHECK(!given || tensor.defined(), layer, "has lost its tensors: it was moved from");
}

LayerNorm::LayerNorm(const LayerNormOptions& options)
    : dim(options.dim), eps(options.eps), affine(options.affine) {
  LADON_CHECK(dim > 0, "LayerNorm", "dim must be positive, got ", dim);
  detail::check_size("LayerNorm", "eps", eps);
  if (!affine) return;
  weight = parameter(ones({dim}));
  bias = parameter(zeros({dim}));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  detail::check_not_moved("LayerNorm", affine, weight);
  detail::warn_of_precision("LayerNorm", x, weight);
  LADON_CHECK(x.rank() > 0 && x.size(-1) == dim, "LayerNorm", "expects [.., ", dim, "], got shape ",
              x.shape());
  const Tensor y = layer_norm(x, weight, bias, eps);
  if (ParameterUses::active() && weight.defined())
    ParameterUses::report_affine(layer_norm(x, {}, {}, eps), y);
  return y;
}

namespace {

/// Limit of a layer that normalizes inputs to mean square 1. If `trained`, the weight adds the new
/// NNGP kernel to the NTK, and the bias adds `beside` (1 for a trained bias, else 0).
infinite::KernelNode normalized(const infinite::KernelNode& k, bool centered, double eps,
                                bool trained, double beside, const infinite::Law& makes) {
  const bool less_means = centered && k.has_means;
  const auto formula = [=] {
    const auto power = [&](const char* x) {
      const std::string mean = less_means ? detail::join(" − m(", x, ")²") : "";
      return detail::join("($k(", x, ", ", x, ")", mean, infinite::plus(eps), ")");
    };
    infinite::Formula y{less_means ? "($k − m(x)·m(x'))/r" : "$k/r", "$t/r"};
    y.nngp += ", r = √(" + power("x") + "·" + power("x'") + ")";
    if (less_means) y.nngp += ", m(x) the mean of its channels";
    if (trained) y.ntk += " + $K" + infinite::plus(beside);
    return y;
  };
  const infinite::Step step{.makes = makes,
                            .formula = formula,
                            .needs = infinite::Needs::wanted,
                            .means = infinite::MeanMap()};
  return infinite::map_pairs(k, step, [=](const infinite::Pairs& inputs) {
    const infinite::Pairs pairs = centered ? inputs.centered("LayerNorm", eps) : inputs;
    // Clamps the variance to the smallest positive number, so that inputs of zeros stay zeros if
    // eps = 0.
    const auto inverse_root = [&](const Tensor& variance) {
      return 1 / sqrt(maximum(variance + eps, scalar(std::numeric_limits<double>::min(), f64)));
    };
    const Tensor scale = inverse_root(pairs.left_variance()) * inverse_root(pairs.right_variance());
    infinite::PairKernels y = pairs.each([&](const Tensor& block) { return block * scale; });
    if (trained && y.ntk.defined()) y.ntk = y.ntk + y.nngp + beside;
    return y;
  });
}

}  // namespace

infinite::KernelNode LayerNorm::limit(const infinite::KernelNode& k) const {
  detail::check_not_moved("LayerNorm", affine, weight);
  k.law.need_means("LayerNorm");
  const bool trained = weight.defined();
  return normalized(k, true, eps, trained, 1, k.law.after_trained_scale(trained && k.ntk()));
}

void LayerNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string LayerNorm::describe() const { return detail::join("LayerNorm(", dim, ")"); }

// --- RmsNorm ---

RmsNorm::RmsNorm(const RmsNormOptions& options)
    : dim(options.dim), eps(options.eps), affine(options.affine) {
  LADON_CHECK(dim > 0, "RmsNorm", "dim must be positive, got ", dim);
  detail::check_size("RmsNorm", "eps", eps);
  if (affine) weight = parameter(ones({dim}));
}

Tensor RmsNorm::forward(const Tensor& x) const {
  detail::check_not_moved("RmsNorm", affine, weight);
  detail::warn_of_precision("RmsNorm", x, weight);
  LADON_CHECK(x.rank() > 0 && x.size(-1) == dim, "RmsNorm", "expects [.., ", dim, "], got shape ",
              x.shape());
  const Tensor y = rms_norm(x, weight, eps);
  if (ParameterUses::active() && weight.defined())
    ParameterUses::report(y, [h = rms_norm(x.detach(), {}, eps), d = dim](const Tensor& delta) {
      return sum(reshape(h * delta, {delta.size(0), -1, d}), 1);  // ∂/∂w = Σ_t h_t ∘ δ_t
    });
  return y;
}

infinite::KernelNode RmsNorm::limit(const infinite::KernelNode& k) const {
  detail::check_not_moved("RmsNorm", affine, weight);
  const bool trained = weight.defined();
  infinite::Law makes = k.law.after_trained_scale(trained && k.ntk());
  if (k.has_means)
    makes.zero_given = infinite::Law::nothing;  // the quotient's means are not tracked
  return normalized(k, false, eps, trained, 0, makes);
}

void RmsNorm::visit(Visitor& v) { v("weight", weight); }

std::string RmsNorm::describe() const { return detail::join("RmsNorm(", dim, ")"); }

// --- GroupNorm and InstanceNorm ---

GroupNorm::GroupNorm(const GroupNormOptions& o)
    : groups(o.groups), dim(o.dim), eps(o.eps), affine(o.affine) {
  LADON_CHECK(dim > 0 && groups > 0 && dim % groups == 0, "GroupNorm", groups,
              " groups do not divide ", dim,
              " channels evenly; dim must be a positive multiple of groups");
  detail::check_size("GroupNorm", "eps", eps);
  if (!affine) return;
  weight = parameter(ones({dim}));
  bias = parameter(zeros({dim}));
}

Tensor GroupNorm::forward(const Tensor& x) const {
  detail::check_not_moved("GroupNorm", affine, weight);
  detail::warn_of_precision("GroupNorm", x, weight);
  LADON_CHECK(x.rank() > 1 && x.size(-1) == dim, "GroupNorm", "expects [N, .., ", dim,
              "], got shape ", x.shape());
  const std::int64_t positions = x.shape().sub(1, x.rank() - 1).count();
  LADON_CHECK(positions * (dim / groups) != 1, describe(),
              "normalizes groups of a single number, which would all be 0: inputs ", x.shape(),
              " have ", positions, " position and ", dim / groups,
              " channel per group; use LayerNorm for vectors");
  const Tensor y = group_norm(x, groups, weight, bias, eps);
  if (ParameterUses::active() && weight.defined())
    ParameterUses::report_affine(group_norm(x, groups, {}, {}, eps), y);
  return y;
}

void GroupNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string GroupNorm::describe() const {
  return detail::join("GroupNorm(", dim, " in ", groups, ")");
}

std::string InstanceNorm::describe() const { return detail::join("InstanceNorm(", dim, ")"); }

}  // namespace ladon
