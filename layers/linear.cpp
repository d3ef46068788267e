#include "ladon/layers/linear.h"

#include <cmath>
#include <limits>

#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/kernel.h"
#include "ladon/layers/trace.h"

namespace ladon {

Linear::Linear(const LinearOptions& o, Generator& rng) {
  LADON_CHECK(o.in > 0 && o.out > 0, "Linear", "sizes must be positive, got in = ", o.in,
              ", out = ", o.out);
  if (o.parameterization == Parameterization::ntk) {
    LADON_CHECK(o.weight_std >= 0 && o.bias_std >= 0, "Linear",
                "standard deviations must not be negative, got weight_std = ", o.weight_std,
                ", bias_std = ", o.bias_std);
    weight_std = scalar(o.weight_std, f64);
    bias_std = scalar(o.bias_std, f64);
    weight = initialize(Init::normal, {o.out, o.in}, rng);
    if (o.bias && o.bias_std > 0) bias = initialize(Init::normal, {o.out}, rng);
    return;
  }
  weight = initialize(o.init, {o.out, o.in}, rng, {.gain = o.gain});
  init_std = o.init == Init::ones ? std::numeric_limits<double>::quiet_NaN()
                                  : std::sqrt(static_cast<double>(o.in)) *
                                        init_stddev(o.init, weight.shape(), o.gain);
  if (o.bias) bias = parameter(zeros({o.out}));
}

Tensor Linear::forward(const Tensor& x) const {
  if (parameterization() == Parameterization::standard) {
    const Tensor y = linear(x, weight, bias);
    trace::product(x, y, bias.defined() ? 1 : 0);
    return y;
  }
  const double scale = weight_std.item() / std::sqrt(static_cast<double>(weight.size(1)));
  const Tensor scaled = x * scale;
  const Tensor y = linear(scaled, weight, bias.defined() ? bias * bias_std.item() : bias);
  trace::product(scaled, y, bias.defined() ? bias_std.item() : 0);
  return y;
}

infinite::Kernel Linear::limit(const infinite::Kernel& k) const {
  const bool standard = parameterization() == Parameterization::standard;
  LADON_CHECK(!std::isnan(init_std), "Linear", "weights that are all one have no Gaussian limit");
  const Tensor w = square(standard ? scalar(init_std, f64) : weight_std);
  const Tensor b = standard || !bias.defined() ? scalar(0, f64) : square(bias_std);
  const double fan_in = static_cast<double>(weight.size(1));
  const infinite::Law makes = infinite::Law::random_linear();
  return infinite::map_pairs(k, makes, [&](const infinite::Pairs& pairs) {
    infinite::PairKernels y{w * pairs.nngp + b, {}};
    if (!pairs.ntk.defined()) return y;
    y.ntk =
        w * pairs.ntk + (standard ? fan_in * pairs.nngp + (bias.defined() ? 1.0 : 0.0) : y.nngp);
    return y;
  });
}

void Linear::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
  v.hyperparameter("weight_std", weight_std);
  v.hyperparameter("bias_std", bias_std);
}

std::string Linear::describe() const {
  return detail::join("Linear(", weight.size(1), " → ", weight.size(0),
                      bias.defined() ? ")" : ", no bias)");
}

Embedding::Embedding(const EmbeddingLayerOptions& o, Generator& rng)
    : padding_index(o.padding_index), init_std(o.stddev) {
  LADON_CHECK(o.count > 0 && o.dim > 0, "Embedding",
              "sizes must be positive, got count = ", o.count, ", dim = ", o.dim);
  LADON_CHECK(o.stddev >= 0, "Embedding", "stddev must not be negative, got ", o.stddev);
  LADON_CHECK(padding_index < o.count, "Embedding", "padding_index ", padding_index,
              " is outside a table of ", o.count, " rows");
  const bool in_front = o.parameterization == Parameterization::ntk;
  if (in_front) weight_std = scalar(o.stddev, f64);
  NoGrad no_grad;
  weight = normal({o.count, o.dim}, rng, 0, in_front ? 1 : o.stddev);
  if (padding_index >= 0) fill_(select(weight, 0, padding_index), 0);
  weight = parameter(weight);
}

Tensor Embedding::forward(const Tensor& index) const {
  const Tensor rows = embedding(weight, index, {.padding_index = padding_index});
  if (Trace::active()) {
    const Tensor trained =
        padding_index < 0
            ? index
            : where(equal(index, static_cast<double>(padding_index)), scalar(-1, i64), index);
    trace::product(unsqueeze(trained, -1), rows);
  }
  return weight_std.defined() ? rows * weight_std.item() : rows;
}

infinite::Kernel Embedding::limit(const infinite::Kernel& k) const {
  const bool standard = !weight_std.defined();
  const Tensor w = square(standard ? scalar(init_std, f64) : weight_std);
  for (const Tensor& own : {k.cov1, k.cov2})
    LADON_CHECK(all(equal(k.has_positions() ? diagonal(own) : own, 1)).item<bool>(), "Embedding",
                "its limit takes the kernel of indices, which is 1 for an index with itself");
  const infinite::Law makes = infinite::Law::random_linear();
  return infinite::map_pairs(k, makes, [&](const infinite::Pairs& pairs) {
    const Tensor equals = padding_index < 0 ? pairs.nngp : pairs.visible(pairs.nngp);
    infinite::PairKernels y{w * equals, {}};
    if (pairs.ntk.defined()) y.ntk = standard ? equals : y.nngp;
    return y;
  });
}

void Embedding::visit(Visitor& v) {
  v("weight", weight);
  v.hyperparameter("weight_std", weight_std);
}

std::string Embedding::describe() const {
  return detail::join("Embedding(", weight.size(0), " × ", weight.size(1), ")");
}

}  // namespace ladon
