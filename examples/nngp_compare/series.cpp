#include <cmath>

#include "ladon/examples/nngp_compare/study.h"
#include "ladon/layers/layers.h"

namespace ladon::example {
namespace {

using infinite::SizedFactory;
constexpr auto ntk = Parameterization::ntk;

/// Factory of the network whose errors are known from another program; its heads split the width of
/// the values between them.
SizedFactory reference_network(const AttentionForm& form, std::int64_t in) {
  return [=](const infinite::NetworkSize& size, Generator& rng) {
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

/// A sweep over widths w with one head, or with √w heads.
WidthSeries sweep_widths(const std::string& name, AttentionScaling scaling, bool many,
                         const SizedFactory& network, const std::vector<std::int64_t>& widths,
                         std::int64_t draws) {
  WidthSeries series{{name + (many ? ", sqrt(w) heads" : ", 1 head"), scaling, network}};
  // With linear scaling the error falls as w^(−1/2), since a head averages over its width. With
  // sqrt scaling only the mean over heads averages: w^(−1/4) with √w heads, and no fall with one
  // head.
  series.power = scaling == AttentionScaling::linear ? -0.5 : many ? -0.25 : 0;
  for (const std::int64_t width : widths) {
    const double root = std::sqrt(static_cast<double>(width));
    series.sweep.push_back({{.heads = many ? std::llround(root) : 1, .width = width}, draws});
  }
  return series;
}

/// Inputs X[n, t, c] = ((7n + 5t + 3c + ntc) mod 11 − 5)/5.
Tensor reference_inputs() {
  std::vector<double> x;
  for (int n = 0; n < 3; ++n)
    for (int t = 0; t < 4; ++t)
      for (int c = 0; c < 3; ++c) x.push_back(((7 * n + 5 * t + 3 * c + n * t * c) % 11 - 5) / 5.0);
  return from_vector(x, {3, 4, 3});
}

std::vector<WidthSeries> reference_series(const Settings& s, std::int64_t channels) {
  struct Known {
    AttentionScaling scaling;
    Weighting weighting;
    bool many;
    std::map<std::int64_t, double> errors;  // by width, each from 100 networks
  };
  constexpr auto linear = AttentionScaling::linear, sqrt = AttentionScaling::sqrt;
  constexpr auto softmax = Weighting::softmax, identity = Weighting::identity;
  const Known known[] = {
      {linear, softmax, true, {{16, 0.379}, {64, 0.182}, {256, 0.099}, {1024, 0.053}}},
      {sqrt, identity, true, {{16, 0.580}, {64, 0.203}, {256, 0.088}}},
      {linear, softmax, false, {{64, 0.191}, {256, 0.096}, {4096, 0.024}}},
      {sqrt, identity, false, {{64, 0.269}, {256, 0.190}, {4096, 0.126}}}};
  std::vector<WidthSeries> all;
  for (const auto& [scaling, weighting, many, errors] : known) {
    std::vector<std::int64_t> widths = s.widths;
    for (std::int64_t& width : widths) width *= many ? 1 : 4;
    all.push_back(sweep_widths(scaling == linear ? "linear softmax" : "sqrt identity", scaling,
                               many, reference_network(form(scaling, weighting), channels), widths,
                               s.draws));
    all.back().reference = errors;
    all.back().ntk_channels = 1;  // the only output channel of this network
  }
  return all;
}

}  // namespace

std::vector<WidthSeries> width_series(const Settings& s, std::int64_t channels) {
  if (s.preset == "reference") return reference_series(s, channels);
  std::vector<WidthSeries> all;
  for (const std::string& name : s.scalings) {
    const AttentionScaling scaling = attention_scaling_from_name(name);
    const SizedFactory network = attention(form(scaling, weighting_from_name(s.zeta)), channels);
    all.push_back(sweep_widths(name, scaling, false, network, s.widths, s.draws));
    if (scaling == AttentionScaling::sqrt)
      all.push_back(sweep_widths(name, scaling, true, network, s.widths, s.draws));
  }
  return all;
}

Tensor inputs_of(const Settings& s) {
  return s.preset == "reference" && s.inputs.empty() ? reference_inputs() : load_inputs(s);
}

}  // namespace ladon::example
