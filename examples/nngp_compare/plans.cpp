#include "ladon/examples/nngp_compare/plans.h"

#include <cmath>
#include <limits>
#include <map>

#include "ladon/layers/layers.h"

namespace ladon::example {

using infinite::CompareOptions;
using infinite::NetworkSize;

std::unique_ptr<Layer> AttentionNetwork::operator()(const NetworkSize& size, Generator& rng) const {
  constexpr auto ntk = Parameterization::ntk;
  const std::int64_t width = size.width;
  MultiHeadAttentionOptions options{.dim = known ? width : in,
                                    .heads = size.heads,
                                    .head_dim = width,
                                    .bias = known,
                                    .out = out > 0 ? out : width,
                                    .form = {.scaling = scaling,
                                             .weighting = weighting,
                                             .tied = scaling == AttentionScaling::linear},
                                    .prior = {.parameterization = ntk}};
  if (!known) return std::make_unique<MultiHeadAttention>(options, rng);
  options.value_head_dim = width / size.heads;
  options.prior.query_key_std = 0.63;
  options.prior.value_output_std = 0.96;
  options.prior.bias_std = 0.5;
  return std::make_unique<Sequential>(
      Linear({.in = in, .out = width, .parameterization = ntk}, rng),
      MultiHeadAttention(options, rng), Activation(Nonlinearity::relu), MeanPositions(),
      Linear({.in = width, .out = 1, .parameterization = ntk}, rng));
}

double AttentionNetwork::cost(const NetworkSize& size) const {
  const auto all = static_cast<double>(size.heads * size.width);
  const std::int64_t before = known ? size.width : in, after = out > 0 ? out : size.width;
  constexpr double overhead = 5e4;
  return all * static_cast<double>(3 * before + after) + overhead;
}

namespace {

CompareOptions single_precision() {
  CompareOptions options;
  options.networks.dtype = f32;
  return options;
}

std::int64_t root(std::int64_t width) {
  return std::llround(std::sqrt(static_cast<double>(width)));
}

/// With linear scaling a head averages over its width, with sqrt scaling only heads are averaged:
/// one, or width^½ of them.
double power(AttentionScaling scaling, bool many) {
  return scaling == AttentionScaling::linear ? -0.5 : many ? -0.25 : 0;
}

// Errors of one network that an independent program found, 100 networks each.

Plan reference_plan(const Settings& s, const Tensor& x, const std::string& name,
                    AttentionScaling scaling, Weighting weighting, bool many,
                    const std::map<std::int64_t, double>& known) {
  const AttentionNetwork network{.scaling = scaling,
                                 .weighting = weighting,
                                 .tokens = x.size(1),
                                 .in = x.size(2),
                                 .known = true};
  Plan plan{name, network, {}, single_precision(), power(scaling, many)};
  for (const std::int64_t w : s.widths) {
    const std::int64_t width = many ? w : 4 * w;
    plan.sweep.push_back({{.heads = many ? root(width) : 1, .width = width}, s.draws});
    const auto at = known.find(width);
    plan.reference.push_back(at == known.end() ? std::numeric_limits<double>::quiet_NaN()
                                               : at->second);
  }
  return plan;
}

std::vector<Plan> reference_plans(const Settings& s, const Tensor& x) {
  using enum AttentionScaling;
  const auto softmax = Weighting::softmax, identity = Weighting::identity;
  return {reference_plan(s, x, "linear softmax, sqrt(w) heads", linear, softmax, true,
                         {{16, 0.379}, {64, 0.182}, {256, 0.099}, {1024, 0.053}}),
          reference_plan(s, x, "sqrt identity, sqrt(w) heads", sqrt, identity, true,
                         {{16, 0.580}, {64, 0.203}, {256, 0.088}}),
          reference_plan(s, x, "linear softmax, 1 head", linear, softmax, false,
                         {{64, 0.191}, {256, 0.096}, {4096, 0.024}}),
          reference_plan(s, x, "sqrt identity, 1 head", sqrt, identity, false,
                         {{64, 0.269}, {256, 0.190}, {4096, 0.126}})};
}

}  // namespace

std::vector<Plan> width_plans(const Settings& s, const Tensor& x) {
  if (s.preset != "tour") return reference_plans(s, x);
  std::vector<Plan> plans;
  for (const std::string& scaling : s.scalings)
    for (const bool many : {false, true}) {
      if (many && scaling == "linear") continue;
      const AttentionScaling kind = attention_scaling_from_name(scaling);
      Plan plan{scaling + (many ? ", sqrt(w) heads" : ", 1 head"),
                {.scaling = kind,
                 .weighting = weighting_from_name(s.zeta),
                 .tokens = x.size(1),
                 .in = x.size(2)},
                {},
                single_precision(),
                power(kind, many)};
      plan.options.networks.kernel.channels = 2;
      for (const std::int64_t width : s.widths)
        plan.sweep.push_back({{.heads = many ? root(width) : 1, .width = width}, s.draws});
      plans.push_back(plan);
    }
  return plans;
}

std::vector<Plan> head_plans(const Settings& s, const Tensor& x) {
  if (s.preset != "tour") return {};
  constexpr std::int64_t outputs_looked_at = 16;
  std::vector<Plan> plans;
  for (const std::string& scaling : s.scalings) {
    Plan plan{scaling,
              {.scaling = attention_scaling_from_name(scaling),
               .weighting = weighting_from_name(s.zeta),
               .tokens = x.size(1),
               .in = x.size(2),
               .out = outputs_looked_at},
              {},
              single_precision()};
    plan.options.networks.kernel.get = infinite::Get::nngp;
    for (const std::int64_t heads : s.heads)
      plan.sweep.push_back({{.heads = heads, .width = s.head_width}, s.gaussian_draws});
    plans.push_back(plan);
  }
  return plans;
}

}  // namespace ladon::example
