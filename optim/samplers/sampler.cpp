#include "ladon/optim/samplers/sampler.h"

#include <cmath>
#include <numeric>
#include <set>

#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/parameters.h"

namespace ladon {
namespace {

void check_temperature(double temperature) {
  LADON_CHECK(std::isfinite(temperature) && temperature >= 0, "sampler", "the temperature is ",
              temperature, "; it must be finite and at least 0");
}

ParameterGroups without_decay(ParameterGroups groups) {
  for (const ParameterGroup& group : groups)
    LADON_CHECK(!group.weight_decay, "sampler", "a group has the weight_decay ",
                group.weight_decay.value_or(0),
                "; a sampler's prior is in its target (TargetDensity::prior_precision), so leave "
                "weight_decay empty, and add any other prior to the loss");
  return groups;
}

std::string stream_of(const std::string& name) { return "parameter." + name + ".stream"; }

}  // namespace

Sampler::Sampler(ParameterGroups groups, double lr, const TargetDensity& target, Generator rng,
                 std::vector<std::string> moment_names)
    : Optimizer(without_decay(std::move(groups)), lr, 0, std::move(moment_names)),
      target_(target),
      rng_(rng) {
  detail::check_target("sampler",
                       {.count = target.count, .prior_precision = target.prior_precision});
  check_temperature(target.temperature);
  streams_.resize(size());
  std::iota(streams_.begin(), streams_.end(), 0);
}

void Sampler::set_temperature(double temperature) {
  check_temperature(temperature);
  target_.temperature = temperature;
}

StateDict Sampler::state_dict() const {
  StateDict state = Optimizer::state_dict();
  state["temperature"] = scalar(temperature(), f64);
  state["generator"] = detail::state_of(rng_);
  const std::vector<std::string> names = state_names("state_dict");
  for (std::size_t i = 0; i < names.size(); ++i)
    state[stream_of(names[i])] = detail::state_of(streams_[i]);
  return state;
}

void Sampler::load_state_dict(const StateDict& state) {
  detail::StateReader reader(state);
  const double temperature = reader.number("temperature");
  check_temperature(temperature);
  const Generator rng = reader.has("generator") ? reader.generator("generator") : rng_;
  StateDict rest = state;
  rest.erase("temperature");
  rest.erase("generator");
  const std::vector<std::string> names = state_names("load_state_dict", state);
  const bool with_streams = !detail::names_in(state, "parameter.", ".stream").empty();
  std::vector<std::int64_t> streams = streams_;
  detail::check_same_parameters(names, detail::parameters_of(state, names));
  for (std::size_t i = 0; i < names.size() && with_streams; ++i) {
    streams[i] = reader.count(stream_of(names[i]));
    rest.erase(stream_of(names[i]));
  }
  LADON_CHECK(std::set(streams.begin(), streams.end()).size() == streams.size(), "load_state_dict",
              "two parameters share a stream of noise in the state; all streams must differ");
  Optimizer::load_state_dict(rest);  // nothing below throws
  target_.temperature = temperature;
  rng_ = rng;
  streams_ = std::move(streams);
}

void Sampler::check(const Item& item, const Tensor&) const {
  const Rewrite rewrite = Leaf::of(item.parameter)->rewrite();
  LADON_CHECK(
      !rewrite.at_step || temperature() == 0, "step", rewrite.by,
      " adds its own noise to parameter ", item.name,
      ", and the sampler would add more; use Sgd with this particle method, or temperature 0");
  LADON_CHECK(!rewrite.prior || target_.prior_precision == 0, "step", "parameter ", item.name,
              " already has the prior of ", rewrite.by,
              ", and the sampler would add its prior of precision ", target_.prior_precision,
              "; set the prior in only one of the two");
}

Tensor Sampler::slope(const Item& item, const Tensor& gradient) const {
  const double decay = target_.prior_precision / target_.count;
  return decay == 0 ? gradient : gradient + decay * item.parameter;
}

void Sampler::add_noise(Tensor x, const Item& item, double stddev, const Tensor& scale) const {
  if (stddev == 0) return;
  const auto before = static_cast<std::uint64_t>(item.steps - 1);
  Generator rng = rng_.split(static_cast<std::uint64_t>(streams_[item.index]));
  rng.set_position(before * static_cast<std::uint64_t>(x.count()));
  const Tensor xi = normal(x.shape(), rng, 0, 1, x.dtype());  // uses at most x.count() blocks
  add_(x, scale.defined() ? scale * xi : xi, stddev);
}

}  // namespace ladon
