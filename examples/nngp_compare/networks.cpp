#include "ladon/examples/nngp_compare/networks.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/io/npy.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

void add_network_options(Program& program, NetworkSettings& s) {
  program.option(
      "--inputs", s.inputs,
      "Inputs, .npy of floating-point numbers [N, T, d] (default: 3 drawn from the seed, of 4 "
      "tokens of 8 channels)",
      "With your own inputs: the more similar the tokens, the larger ρ and the kurtosis of one "
      "head",
      existing_file());
  program.option("--zeta", s.zeta, "Function from logits to attention weights",
                 "For the identity the distribution of outputs is known exactly; softmax is the "
                 "Transformer's, with less random outputs",
                 one_of({"identity", "softmax", "relu", "abs"}));
  program.list("--scaling", s.scalings, "Scaling of logits: linear 1/d_k, sqrt 1/sqrt(d_k)",
               "One alone takes about half the time", one_of({"linear", "sqrt"}));
}

Tensor load_inputs(const NetworkSettings& s) {
  if (s.inputs.empty()) {
    Generator rng(s.common.seed, 1);
    return normal({3, 4, 8}, rng, 0, 1, f64);
  }
  const Tensor x = load_npy(s.inputs);
  LADON_CHECK(is_floating(x.dtype()), "load_inputs", s.inputs,
              " must hold floating-point numbers, but holds ", x.dtype(), "; save it as float64");
  LADON_CHECK(x.rank() == 3, "load_inputs", s.inputs,
              " must hold [inputs, tokens, channels], but has shape ", x.shape());
  LADON_CHECK(x.count() > 0, "load_inputs", s.inputs, " holds no numbers: its shape is ",
              x.shape());
  return cast(x, f64);
}

AttentionForm form(AttentionScaling scaling, Weighting weighting) {
  return {.scaling = scaling, .weighting = weighting, .tied = scaling == AttentionScaling::linear};
}

infinite::SizedFactory attention(const AttentionForm& form, std::int64_t in, std::int64_t out) {
  return [=](const infinite::NetworkSize& size, Generator& rng) {
    return std::make_unique<MultiHeadAttention>(
        MultiHeadAttentionOptions{.dim = in,
                                  .heads = size.heads,
                                  .head_dim = size.width,
                                  .bias = false,
                                  .out = out > 0 ? out : size.width,
                                  .form = form,
                                  .prior = {.parameterization = Parameterization::ntk}},
        rng);
  };
}

void compare(const Tensor& x, infinite::Get kernels, Progress& progress, Generator& rng,
             Series& series) {
  infinite::CompareOptions options;
  options.networks.dtype = f32;
  options.networks.kernel.get = kernels;
  if (kernels == infinite::Get::ntk) options.networks.kernel.channels = series.ntk_channels;
  options.progress = [&](const infinite::SweepPoint& p) {
    progress.step(join(series.name, ", width ", p.size.width, ", heads ", p.size.heads));
  };
  for (const infinite::SweepPoint& point : series.sweep)
    series.rows.push_back(infinite::compare(series.network, x, {point}, options, rng).rows[0]);
}

Tensor over_positions(const Tensor& kernel) {
  if (kernel.rank() == 2) return kernel;
  const std::int64_t all = kernel.size(0) * kernel.size(2);
  return reshape(permute(kernel, {0, 2, 1, 3}), {all, all});
}

std::string decimals(double x, int digits) {
  const double power = std::pow(10, digits);
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, std::round(x * power) / power + 0.0);
  return text;
}

std::string shown(std::string name) {
  for (const auto& [word, sign] : {std::pair<std::string, std::string>("sqrt(w)", "√w"),
                                   {"linear", "1/d"},
                                   {"sqrt", "1/√d"},
                                   {"1 head", "one head"}})
    if (const auto at = name.find(word); at != std::string::npos)
      name.replace(at, word.size(), sign);
  return name;
}

std::string plot(const std::vector<std::string>& parts) { return "plot " + listed(parts); }

std::string normal_body(double floor, const std::string& title) {
  return join("exp(-x*x/2)/sqrt(2*pi) with filledcurves y1=", floor,
              " fs solid 0.25 noborder lc rgb '", grey, "' title ", quoted(title));
}

std::string around(const std::set<double>& numbers, double below, double above) {
  return join("range [", *numbers.begin() / below, ":", *numbers.rbegin() * above, "]\n");
}

}  // namespace ladon::example
