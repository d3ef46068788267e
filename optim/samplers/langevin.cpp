#include "ladon/optim/samplers/langevin.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/parameters.h"

namespace ladon {

Sgld::Sgld(ParameterGroups groups, SgldOptions options, Generator rng)
    : Sampler(std::move(groups), options.lr, options.target, rng, {}) {}

void Sgld::update(Item& item, const Tensor& gradient, double lr) {
  add_(item.parameter, slope(item, gradient), -lr);
  add_noise(item.parameter, item, std::sqrt(2 * heat(lr)));
}

Psgld::Psgld(ParameterGroups groups, PsgldOptions options, Generator rng)
    : Sampler(std::move(groups), options.lr, options.target, rng, {"second_moment"}),
      options_(options) {
  detail::check_fraction("psgld", "beta", options.beta);
  LADON_CHECK(std::isfinite(options.eps) && options.eps > 0, "psgld", "eps is ", options.eps,
              "; it must be finite and positive");
}

void Psgld::update(Item& item, const Tensor& gradient, double lr) {
  Tensor &x = item.parameter, &v = item.moments[0];
  v = options_.beta * v + (1 - options_.beta) * square(gradient);
  const Tensor scale = 1 / (options_.eps + sqrt(v));
  add_(x, scale * slope(item, gradient), -lr);
  add_noise(x, item, std::sqrt(2 * heat(lr)), sqrt(scale));
}

}  // namespace ladon
