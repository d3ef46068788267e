#include "ladon/examples/nngp_compare/study.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/npy.h"
#include "ladon/examples/common/progress.h"

namespace ladon::example {

using infinite::AttentionWidths;
using infinite::CompareOptions;
using infinite::Measured;
using infinite::NetworkSize;
using infinite::SweepPoint;

AttentionScaling scaling_from_name(const std::string& name) {
  return name == "linear" ? AttentionScaling::linear : AttentionScaling::sqrt;
}

Zeta zeta_from_name(const std::string& name) {
  if (name == "softmax") return Zeta::softmax;
  if (name == "relu") return Zeta::relu;
  return name == "abs" ? Zeta::abs : Zeta::identity;
}

std::unique_ptr<Layer> Attention::operator()(const NetworkSize& size, Generator& rng) const {
  return std::make_unique<MultiHeadAttention>(
      MultiHeadAttentionOptions{.dim = in,
                                .heads = size.heads,
                                .head_dim = size.width,
                                .bias = false,
                                .out = out > 0 ? out : size.width,
                                .scaling = scaling,
                                .zeta = zeta,
                                .tied = scaling == AttentionScaling::linear,
                                .parameterization = Parameterization::ntk},
      rng);
}

Tensor load_inputs(const Settings& s) {
  if (s.inputs.empty()) {
    Generator rng(s.common.seed, 1);
    return normal({3, 4, 8}, rng, 0, 1, f64);
  }
  const Tensor x = load_npy(s.inputs);
  check(x.rank() == 3 && x.count() > 0 && is_floating(x.dtype()), "nngp_compare", s.inputs,
        " must hold floating numbers [N, T, d], got ", x.dtype(), " of shape ", x.shape());
  return cast(x, f64);
}

namespace {

/// The networks to draw, so that the time left can be told: a network costs about its parameters.
double cost(const SweepPoint& point, std::int64_t in, std::int64_t out) {
  const auto channels = static_cast<double>(point.size.heads * point.size.width);
  return channels * static_cast<double>(3 * in + (out > 0 ? out : point.size.width)) + 5e4;
}

/// One comparison to make.
struct Plan {
  std::string name;
  Attention network;
  std::vector<SweepPoint> sweep;
  CompareOptions options;

  double total() const {
    double sum = 0;
    for (const SweepPoint& p : sweep)
      sum += cost(p, network.in, network.out) * static_cast<double>(p.draws);
    return sum;
  }
};

std::string heads_text(const std::string& scaling, const std::string& heads) {
  return scaling + ", " + heads;
}

/// With sqrt scaling one head, and a number that grows with the width; with linear scaling one.
std::vector<Plan> width_plans(const Settings& s, std::int64_t in) {
  std::vector<Plan> plans;
  CompareOptions options;
  options.networks.dtype = f32;
  options.networks.kernel.channels = 2;
  for (const std::string& scaling : s.scalings)
    for (const bool many : {false, true}) {
      if (many && scaling == "linear") continue;
      Plan plan{heads_text(scaling, many ? "sqrt(w) heads" : "1 head"),
                {.scaling = scaling_from_name(scaling), .zeta = zeta_from_name(s.zeta), .in = in},
                {},
                options};
      for (const std::int64_t width : s.widths) {
        const auto heads = std::llround(std::sqrt(static_cast<double>(width)));
        plan.sweep.push_back({{.heads = many ? heads : 1, .width = width}, s.draws});
      }
      plans.push_back(plan);
    }
  return plans;
}

constexpr std::int64_t outputs_looked_at = 16;

std::vector<Plan> head_plans(const Settings& s, std::int64_t in) {
  std::vector<Plan> plans;
  CompareOptions options;
  options.networks.dtype = f32;
  options.networks.kernel.wanted = infinite::Wanted::nngp;
  for (const std::string& scaling : s.scalings) {
    Plan plan{scaling,
              {.scaling = scaling_from_name(scaling),
               .zeta = zeta_from_name(s.zeta),
               .in = in,
               .out = outputs_looked_at},
              {},
              options};
    for (const std::int64_t heads : s.heads)
      plan.sweep.push_back({{.heads = heads, .width = s.head_width}, s.gaussian_draws});
    plans.push_back(plan);
  }
  return plans;
}

/// The excess kurtosis of theory, averaged over inputs and their tokens.
Measured law(const Settings& s, AttentionScaling scaling, const Tensor& x,
             const AttentionWidths& widths, Generator& rng) {
  if (scaling == AttentionScaling::linear) return {0, 0};  // nothing is random in wide heads
  const Zeta zeta = zeta_from_name(s.zeta);
  constexpr std::int64_t samples = 20000;
  const std::int64_t tokens = x.size(1);
  double mean = 0, variance = 0, count = 0;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    const Tensor one = select(x, 0, n);
    const Tensor k = matmul(one, transpose(one)) / static_cast<double>(x.size(2));
    // With identity ζ it is the same for every token.
    for (std::int64_t a = 0; a < (zeta == Zeta::identity ? 1 : tokens); ++a, ++count) {
      if (zeta == Zeta::identity) {
        mean += infinite::identity_kurtosis(k, k, widths);
        continue;
      }
      const Measured m =
          infinite::head_kurtosis([zeta](const Tensor& logits) { return apply(zeta, logits); }, 1,
                                  k, k, select(eye(tokens, f64), 0, a), widths.heads, samples, rng);
      mean += m.value;
      variance += m.se * m.se;
    }
  }
  return {mean / count, std::sqrt(variance) / count};
}

}  // namespace

Study run_study(const Settings& s, const Tensor& x) {
  const std::vector<Plan> by_width = width_plans(s, x.size(2)), by_heads = head_plans(s, x.size(2));
  constexpr double unit = 1e4;
  double total = 0;
  for (const auto* plans : {&by_width, &by_heads})
    for (const Plan& plan : *plans) total += plan.total() / unit;
  Progress progress(static_cast<std::int64_t>(total));
  Generator rng(s.common.seed, 2);
  const auto compare = [&](Plan plan) {
    plan.options.progress = [&](const SweepPoint& p) {
      progress.step(concat(plan.name, ", width ", p.size.width, ", heads ", p.size.heads),
                    std::llround(cost(p, plan.network.in, plan.network.out) / unit));
    };
    return infinite::compare(plan.network, x, plan.sweep, rng, plan.options);
  };
  Study study;
  for (const Plan& plan : by_width) study.by_width.push_back({plan.name, compare(plan), {}});
  for (const Plan& plan : by_heads) {
    HeadSeries series{plan.name, plan.network.scaling, compare(plan), {}, {}};
    for (const SweepPoint& p : plan.sweep) {
      const auto width = static_cast<double>(p.size.width);
      series.wide_law.push_back(law(s, series.scaling, x, {.heads = p.size.heads}, rng));
      const bool known = plan.network.zeta == Zeta::identity && plan.name == "sqrt";
      series.law.push_back(
          known ? law(s, series.scaling, x,
                      {.heads = p.size.heads, .key_width = width, .value_width = width}, rng)
                : Measured{});
    }
    study.by_heads.push_back(std::move(series));
  }
  return study;
}

}  // namespace ladon::example
