#include "ladon/optim/samplers/sghmc.h"

#include <cmath>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon {
namespace {

void check_friction(const char* operation, double friction) {
  LADON_CHECK(friction > 0 && friction <= 1, operation, "friction is ", friction,
              "; it must be in (0, 1]");
}

}  // namespace

Sghmc::Sghmc(ParameterGroups groups, SghmcOptions options, Generator rng)
    : Sampler(std::move(groups), options.lr, options.target, rng, {"velocity"}),
      friction_(options.friction) {
  check_friction("sghmc", friction_);
}

void Sghmc::update(Item& item, const Tensor& gradient, double lr) {
  const Tensor& v = item.moments[0];
  mul_(v, 1 - friction_);
  add_(v, slope(item, gradient), -lr);
  add_noise(v, item, std::sqrt(2 * friction_ * heat(lr)));
  add_(item.parameter, v);
}

Sgnht::Sgnht(ParameterGroups groups, SgnhtOptions options, Generator rng)
    : Sampler(std::move(groups), options.lr, options.target, rng, {"velocity", "friction"}),
      friction_(options.friction),
      response_(options.response) {
  check_friction("sgnht", friction_);
  LADON_CHECK(std::isfinite(response_) && response_ > 0, "sgnht", "response is ", response_,
              "; it must be finite and positive");
}

/// Initial moments: the velocity (moment 0) has the parameter's shape, the friction is a scalar.
Tensor Sgnht::initial(std::size_t which, const Tensor& parameter) const {
  return which == 0 ? zeros_like(parameter) : scalar(friction_, f64);
}

void Sgnht::update(Item& item, const Tensor& gradient, double lr) {
  const Tensor &v = item.moments[0], &friction = item.moments[1];
  mul_(v, 1 - number_of("sgnht", friction));
  add_(v, slope(item, gradient), -lr);
  add_noise(v, item, std::sqrt(2 * friction_ * heat(lr)));
  add_(item.parameter, v);
  if (heat(lr) == 0 || v.count() == 0) return;
  const double measured = number_of("sgnht", mean(square(cast(v, f64))));
  fill_(friction, number_of("sgnht", friction) + response_ * (measured / heat(lr) - 1));
}

}  // namespace ladon
