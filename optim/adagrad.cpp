#include "ladon/optim/adagrad.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/optimizer.h"

namespace ladon {
namespace {

void check_option(const char* name, double value) {
  LADON_CHECK(std::isfinite(value) && value >= 0, "adagrad", name, " is ", value,
              "; it must be finite and at least 0");
}

}  // namespace

Adagrad::Adagrad(std::vector<Tensor> parameters, AdagradOptions options)
    : Adagrad(one_group(std::move(parameters)), options) {}

Adagrad::Adagrad(std::vector<ParameterGroup> groups, AdagradOptions options)
    : Optimizer(std::move(groups), options.lr, options.weight_decay, {"sum_of_squares"}),
      options_(options) {
  check_option("lr_decay", options.lr_decay);
  check_option("eps", options.eps);
  check_option("initial", options.initial);
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
