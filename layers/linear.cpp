#include "ladon/layers/linear.h"

#include <cmath>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/linear_options.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {

void detail::check_read(const char* layer, const LinearOptions& o, Init usual) {
  const LinearOptions defaults{};
  if (o.parameterization == Parameterization::standard) {
    constexpr auto why =
        "only ntk parameterization has this factor; set parameterization to Parameterization::ntk";
    check_unread(layer, "weight_std", o.weight_std, defaults.weight_std, why);
    check_unread(layer, "bias_std", o.bias_std, defaults.bias_std, why);
    return;
  }
  constexpr auto why = "weights start as N(0, 1) in ntk parameterization; set weight_std";
  check_unread(layer, "init", to_string(o.init), to_string(usual), why);
  check_unread(layer, "gain", o.gain, defaults.gain, why);
  if (!o.bias)
    check_unread(layer, "bias_std", o.bias_std, defaults.bias_std, "bias is false; set it to true");
}

Linear::Linear(const LinearOptions& o, Generator& rng) {
  LADON_CHECK(o.in > 0 && o.out > 0, "Linear", "sizes must be positive, got in = ", o.in,
              ", out = ", o.out);
  detail::check_read("Linear", o, LinearOptions{}.init);
  if (o.parameterization == Parameterization::ntk) {
    detail::check_size("Linear", "weight_std", o.weight_std);
    detail::check_size("Linear", "bias_std", o.bias_std);
    weight_std = scalar(o.weight_std, f64);
    bias_std = scalar(o.bias_std, f64);
    weight = initialize(Init::normal, {o.out, o.in}, rng);
    if (o.bias && o.bias_std > 0) bias = initialize(Init::normal, {o.out}, rng);
    return;
  }
  weight = initialize(o.init, {o.out, o.in}, {.gain = o.gain}, rng);
  init_std = o.init == Init::ones ? std::numeric_limits<double>::quiet_NaN()
                                  : std::sqrt(static_cast<double>(o.in)) *
                                        init_stddev(o.init, weight.shape(), o.gain);
  if (o.bias) bias = parameter(zeros({o.out}));
}

double Linear::scale() const {
  if (parameterization() == Parameterization::standard) return 1;
  return number_of("Linear", weight_std) / std::sqrt(static_cast<double>(weight.size(1)));
}

double Linear::bias_scale() const {
  if (!bias.defined()) return 0;
  return parameterization() == Parameterization::standard ? 1 : number_of("Linear", bias_std);
}

Tensor Linear::scaled_input(const Tensor& x) const {
  if (parameterization() == Parameterization::standard) return x;
  return scaled(x, weight_std / std::sqrt(static_cast<double>(weight.size(1))));
}

Tensor Linear::scaled_bias() const {
  const bool in_front = bias.defined() && parameterization() == Parameterization::ntk;
  return in_front ? scaled(bias, bias_std) : bias;
}

void Linear::report(const Tensor& x, const Tensor& y) const {
  if (!ParameterUses::active()) return;
  const NoGrad off;  // empirical kernels have no derivative with respect to σ
  ParameterUses::report_product(x, y, bias_scale());
}

Tensor Linear::forward(const Tensor& x) const {
  detail::warn_of_precision("Linear", x, weight);
  const Tensor input = scaled_input(x);
  const Tensor y = linear(input, weight, scaled_bias());
  report(input, y);
  return y;
}

infinite::KernelNode Linear::limit(const infinite::KernelNode& k) const {
  LADON_CHECK(
      !std::isnan(init_std), "Linear",
      "weights that are all one have no Gaussian limit of infinite width; draw them at random "
      "(init)");
  k.law.need_channels("Linear", weight.size(1));
  const bool standard = parameterization() == Parameterization::standard;
  const double fan_in = static_cast<double>(weight.size(1)), biases = bias.defined() ? 1 : 0;
  const auto variances = [this, standard] {
    return std::pair(square(standard ? scalar(init_std, f64) : weight_std),
                     standard || !bias.defined() ? scalar(0, f64) : square(bias_std));
  };
  const auto formula = [=] {
    const auto [w, b] = variances();
    const std::string moved =
        standard ? infinite::times(fan_in, "$k") + infinite::plus(biases) : "$K";
    return infinite::Formula{
        infinite::times(number_of("Linear", w.detach()), "$k") +
            infinite::plus(number_of("Linear", b.detach())),
        infinite::times(number_of("Linear", w.detach()), "$t") + " + " + moved};
  };
  const infinite::Step step{.makes = infinite::Law::random_linear(),
                            .formula = formula,
                            .needs = infinite::Needs::wanted};
  return infinite::map_pairs(k, step, [=](const infinite::Pairs& pairs) {
    const auto [w, b] = variances();
    infinite::PairKernels y{w * pairs.nngp + b, {}};
    if (!pairs.ntk.defined()) return y;
    y.ntk = w * pairs.ntk + (standard ? fan_in * pairs.nngp + biases : y.nngp);
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

}  // namespace ladon
