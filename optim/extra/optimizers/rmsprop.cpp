#include "ladon/optim/extra/optimizers/rmsprop.h"

#include "ladon/core/kernels/optimizer.h"
#include "ladon/optim/parameters.h"

namespace ladon {
namespace {

std::vector<std::string> moment_names(const RmspropOptions& options) {
  std::vector<std::string> names{"second_moment"};
  if (options.centered) names.push_back("first_moment");
  if (options.momentum > 0) names.push_back("momentum");
  return names;
}

}  // namespace

Rmsprop::Rmsprop(ParameterGroups groups, RmspropOptions options)
    : Optimizer(std::move(groups), options.lr, options.weight_decay, moment_names(options)),
      options_(options) {
  detail::check_fraction("rmsprop", "decay", options.decay);
  detail::check_fraction("rmsprop", "momentum", options.momentum);
  detail::check_not_negative("rmsprop", "eps", options.eps);
}

void Rmsprop::update(Item& item, const Tensor& gradient, double lr) {
  const kernels::RmspropStep step{.lr = lr,
                                  .decay = options_.decay,
                                  .eps = options_.eps,
                                  .weight_decay = item.weight_decay,
                                  .momentum = options_.momentum};
  kernels::rmsprop(item.parameter, gradient, item.moments[0],
                   options_.centered ? item.moments[1] : Tensor(),
                   options_.momentum > 0 ? item.moments.back() : Tensor(), step);
}

}  // namespace ladon
