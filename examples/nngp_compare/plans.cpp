#include "ladon/examples/nngp_compare/plans.h"

#include <cmath>

#include "ladon/layers/layers.h"

namespace ladon::example {
namespace {

using infinite::NetworkSize;
using infinite::SizedFactory;
constexpr auto ntk = Parameterization::ntk;

/// With linear scaling queries and keys are tied (their logits would vanish), with sqrt scaling
/// independent.
AttentionForm form(AttentionScaling scaling, Weighting weighting) {
  return {.scaling = scaling, .weighting = weighting, .tied = scaling == AttentionScaling::linear};
}

/// A layer of attention; its output has `out` channels, or is as wide as a head (0).
SizedFactory attention(const AttentionForm& form, std::int64_t in, std::int64_t out = 0) {
  return [=](const NetworkSize& size, Generator& rng) {
    return std::make_unique<MultiHeadAttention>(
        MultiHeadAttentionOptions{.dim = in,
                                  .heads = size.heads,
                                  .head_dim = size.width,
                                  .bias = false,
                                  .out = out > 0 ? out : size.width,
                                  .form = form,
                                  .prior = {.parameterization = ntk}},
        rng);
  };
}

/// The network whose errors are known from elsewhere; its heads share the width of the values.
SizedFactory reference_network(const AttentionForm& form, std::int64_t in) {
  return [=](const NetworkSize& size, Generator& rng) {
    const std::int64_t width = size.width;
    return std::make_unique<Sequential>(
        Linear({.in = in, .out = width, .parameterization = ntk}, rng),
        MultiHeadAttention({.dim = width,
                            .heads = size.heads,
                            .head_dim = width,
                            .value_head_dim = width / size.heads,
                            .form = form,
                            .prior = {.parameterization = ntk,
                                      .query_key_std = 0.63,
                                      .value_output_std = 0.96,
                                      .bias_std = 0.5}},
                           rng),
        Activation(Nonlinearity::relu), MeanPositions(),
        Linear({.in = width, .out = 1, .parameterization = ntk}, rng));
  };
}

/// One head, or √w of them, at each width w.
Plan sweep_widths(const std::string& name, AttentionScaling scaling, bool many,
                  const SizedFactory& network, const std::vector<std::int64_t>& widths,
                  std::int64_t draws) {
  Plan plan{name + (many ? ", sqrt(w) heads" : ", 1 head"), scaling, network};
  // With linear scaling a head averages over its width, with sqrt scaling only heads are averaged.
  plan.power = scaling == AttentionScaling::linear ? -0.5 : many ? -0.25 : 0;
  for (const std::int64_t width : widths) {
    const double root = std::sqrt(static_cast<double>(width));
    plan.sweep.push_back({{.heads = many ? std::llround(root) : 1, .width = width}, draws});
  }
  return plan;
}

std::vector<Plan> reference_plans(const Settings& s, std::int64_t channels) {
  struct Known {
    AttentionScaling scaling;
    Weighting weighting;
    bool many;
    std::map<std::int64_t, double> errors;  // of 100 networks each
  };
  constexpr auto linear = AttentionScaling::linear, sqrt = AttentionScaling::sqrt;
  constexpr auto softmax = Weighting::softmax, identity = Weighting::identity;
  const Known known[] = {
      {linear, softmax, true, {{16, 0.379}, {64, 0.182}, {256, 0.099}, {1024, 0.053}}},
      {sqrt, identity, true, {{16, 0.580}, {64, 0.203}, {256, 0.088}}},
      {linear, softmax, false, {{64, 0.191}, {256, 0.096}, {4096, 0.024}}},
      {sqrt, identity, false, {{64, 0.269}, {256, 0.190}, {4096, 0.126}}}};
  std::vector<Plan> plans;
  for (const auto& [scaling, weighting, many, errors] : known) {
    std::vector<std::int64_t> widths = s.widths;
    for (std::int64_t& width : widths) width *= many ? 1 : 4;
    plans.push_back(sweep_widths(scaling == linear ? "linear softmax" : "sqrt identity", scaling,
                                 many, reference_network(form(scaling, weighting), channels),
                                 widths, s.draws));
    plans.back().reference = errors;
  }
  return plans;
}

}  // namespace

std::vector<Plan> width_plans(const Settings& s, std::int64_t channels) {
  if (s.preset == "reference") return reference_plans(s, channels);
  std::vector<Plan> plans;
  for (const std::string& name : s.scalings) {
    const AttentionScaling scaling = attention_scaling_from_name(name);
    const SizedFactory network = attention(form(scaling, weighting_from_name(s.zeta)), channels);
    plans.push_back(sweep_widths(name, scaling, false, network, s.widths, s.draws));
    if (scaling == AttentionScaling::sqrt)
      plans.push_back(sweep_widths(name, scaling, true, network, s.widths, s.draws));
  }
  return plans;
}

std::vector<Plan> head_plans(const Settings& s, std::int64_t channels) {
  if (s.preset == "reference") return {};
  constexpr std::int64_t outputs_looked_at = 16;
  std::vector<Plan> plans;
  for (const std::string& name : s.scalings) {
    const AttentionScaling scaling = attention_scaling_from_name(name);
    plans.push_back(
        {name, scaling,
         attention(form(scaling, weighting_from_name(s.zeta)), channels, outputs_looked_at)});
    for (const std::int64_t heads : s.heads)
      plans.back().sweep.push_back({{.heads = heads, .width = s.head_width}, s.gaussian_draws});
  }
  return plans;
}

}  // namespace ladon::example
