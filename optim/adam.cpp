#include "ladon/optim/adam.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/optimizer.h"

namespace ladon {
namespace {

void check_beta(const char* name, double beta) {
  LADON_CHECK(beta >= 0 && beta < 1, "adam", name, " is ", beta, "; it must be in [0, 1)");
}

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, AdamOptions options)
    : Adam(one_group(std::move(parameters)), options) {}

Adam::Adam(std::vector<ParameterGroup> groups, AdamOptions options)
    : Adam(std::move(groups), options, Decay::coupled) {}

Adam::Adam(std::vector<ParameterGroup> groups, const AdamOptions& options, Decay decay)
    : Optimizer(std::move(groups), options.lr, options.weight_decay,
                options.amsgrad
                    ? std::vector<std::string>{"first_moment", "second_moment", "largest_second"}
                    : std::vector<std::string>{"first_moment", "second_moment"}),
      options_(options),
      decay_(decay) {
  check_beta("beta1", options.beta1);
  check_beta("beta2", options.beta2);
  LADON_CHECK(std::isfinite(options.eps) && options.eps >= 0, "adam", "eps is ", options.eps,
              "; it must be finite and at least 0");
}

void Adam::update(Item& item, const Tensor& gradient, double lr) {
  const double t = static_cast<double>(item.steps);
  const bool coupled = decay_ == Decay::coupled;
  const kernels::AdamStep step{.lr = lr / (1 - std::pow(options_.beta1, t)),
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .correction = 1 / std::sqrt(1 - std::pow(options_.beta2, t)),
                               .eps = options_.eps,
                               .weight_decay = coupled ? item.weight_decay : 0,
                               .shrink = coupled ? 1 : 1 - lr * item.weight_decay};
  kernels::adam(item.parameter, gradient, item.moments[0], item.moments[1],
                options_.amsgrad ? item.moments[2] : Tensor(), step);
}

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options)
    : AdamW(one_group(std::move(parameters)), options) {}

AdamW::AdamW(std::vector<ParameterGroup> groups, AdamWOptions options)
    : Adam(std::move(groups),
           {.lr = options.lr,
            .beta1 = options.beta1,
            .beta2 = options.beta2,
            .eps = options.eps,
            .weight_decay = options.weight_decay,
            .amsgrad = options.amsgrad},
           Decay::decoupled) {}

}  // namespace ladon
