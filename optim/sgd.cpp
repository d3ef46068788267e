#include "ladon/optim/sgd.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/optimizer.h"
#include "ladon/core/unread.h"
#include "ladon/optim/parameters.h"

namespace ladon {

Sgd::Sgd(ParameterGroups groups, SgdOptions options)
    : Optimizer(
          std::move(groups), options.lr, options.weight_decay,
          options.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{}),
      options_(options) {
  detail::check_fraction("sgd", "momentum", options.momentum);
  LADON_CHECK(options.dampening >= 0 && options.dampening <= 1, "sgd", "dampening is ",
              options.dampening, "; it must be in [0, 1]");
  LADON_CHECK(!options.nesterov || (options.momentum > 0 && options.dampening == 0), "sgd",
              "Nesterov needs momentum > 0 and dampening = 0, got momentum ", options.momentum,
              " and dampening ", options.dampening);
  if (options.momentum == 0)
    detail::check_unread("sgd", "dampening", options.dampening, 0,
                         "momentum is 0, so there is no running mean of gradients to dampen; set "
                         "momentum");
}

void Sgd::update(Item& item, const Tensor& gradient, double lr) {
  const kernels::SgdStep step{.lr = lr,
                              .momentum = options_.momentum,
                              .gradient_weight = item.steps == 1 ? 1 : 1 - options_.dampening,
                              .weight_decay = item.weight_decay,
                              .nesterov = options_.nesterov};
  kernels::sgd(item.parameter, gradient, item.moments.empty() ? Tensor() : item.moments[0], step);
}

}  // namespace ladon
