#include "ladon/optim/extra/optimizers/adagrad.h"

#include "ladon/core/kernels/optimizer.h"
#include "ladon/optim/parameters.h"

namespace ladon {
Adagrad::Adagrad(ParameterGroups groups, AdagradOptions options)
    : Optimizer(std::move(groups), options.lr, options.weight_decay, {"sum_of_squares"}),
      options_(options) {
  detail::check_not_negative("adagrad", "lr_decay", options.lr_decay);
  detail::check_not_negative("adagrad", "eps", options.eps);
  detail::check_not_negative("adagrad", "initial", options.initial);
}

Tensor Adagrad::initial(std::size_t, const Tensor& parameter) const {
  return full(parameter.shape(), options_.initial, parameter.dtype());
}

void Adagrad::update(Item& item, const Tensor& gradient, double lr) {
  const double before = static_cast<double>(item.steps - 1);
  const kernels::AdagradStep step{.lr = lr / (1 + before * options_.lr_decay),
                                  .eps = options_.eps,
                                  .weight_decay = item.weight_decay};
  kernels::adagrad(item.parameter, gradient, item.moments[0], step);
}

}  // namespace ladon
