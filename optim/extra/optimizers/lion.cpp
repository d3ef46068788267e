#include "ladon/optim/extra/optimizers/lion.h"

#include "ladon/core/kernels/optimizer.h"
#include "ladon/optim/parameters.h"

namespace ladon {

Lion::Lion(ParameterGroups groups, LionOptions options)
    : Optimizer(std::move(groups), options.lr, options.weight_decay, {"momentum"}),
      options_(options) {
  detail::check_fraction("lion", "beta1", options.beta1);
  detail::check_fraction("lion", "beta2", options.beta2);
}

void Lion::update(Item& item, const Tensor& gradient, double lr) {
  const kernels::LionStep step{.lr = lr,
                               .beta1 = options_.beta1,
                               .beta2 = options_.beta2,
                               .shrink = 1 - lr * item.weight_decay};
  kernels::lion(item.parameter, gradient, item.moments[0], step);
}

}  // namespace ladon
