#include "ladon/optim/adam.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/optimizer.h"
#include "ladon/optim/parameters.h"

namespace ladon {

Adam::Adam(ParameterGroups groups, AdamOptions options)
    : Adam(std::move(groups), options, Decay::coupled) {}

Adam::Adam(ParameterGroups groups, const AdamOptions& options, Decay decay)
    : Optimizer(std::move(groups), options.lr, options.weight_decay,
                options.amsgrad
                    ? std::vector<std::string>{"first_moment", "second_moment", "largest_second"}
                    : std::vector<std::string>{"first_moment", "second_moment"}),
      options_(options),
      decay_(decay) {
  detail::check_fraction("adam", "beta1", options.beta1);
  detail::check_fraction("adam", "beta2", options.beta2);
  detail::check_not_negative("adam", "eps", options.eps);
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

AdamW::AdamW(ParameterGroups groups, AdamWOptions options)
    : Adam(std::move(groups),
           {.lr = options.lr,
            .beta1 = options.beta1,
            .beta2 = options.beta2,
            .eps = options.eps,
            .weight_decay = options.weight_decay,
            .amsgrad = options.amsgrad},
           Decay::decoupled) {}

}  // namespace ladon
