#include "ladon/examples/nngp_compare/study.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/npy.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

using infinite::AttentionWidths;
using infinite::CompareOptions;
using infinite::Measured;
using infinite::SweepPoint;

Tensor load_inputs(const Settings& s) {
  if (s.inputs.empty()) {
    Generator rng(s.common.seed, 1);
    const Shape shape = s.preset == "tour"        ? Shape{3, 4, 8}
                        : s.preset == "reference" ? Shape{4, 4, 8}
                                                  : Shape{2, 8, 32};
    return normal(shape, rng, 0, 1, f64);
  }
  const Tensor x = load_npy(s.inputs);
  LADON_CHECK(x.rank() == 3 && x.count() > 0 && is_floating(x.dtype()), "nngp_compare", s.inputs,
              " must hold floating numbers [N, T, d], got ", x.dtype(), " of shape ", x.shape());
  return cast(x, f64);
}

namespace {

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
  const std::vector<Plan> by_width = width_plans(s, x), by_heads = head_plans(s, x);
  const auto steps = [](const Plan& plan, const SweepPoint& point) {
    constexpr double unit = 1e4;
    return std::llround(plan.network.cost(point.size) / unit);
  };
  std::int64_t total = 0;
  for (const auto* plans : {&by_width, &by_heads})
    for (const Plan& plan : *plans)
      for (const SweepPoint& point : plan.sweep) total += steps(plan, point) * point.draws;
  Progress progress(total);
  Generator rng(s.common.seed, 2);
  const auto compare = [&](const Plan& plan) {
    CompareOptions options = plan.options;
    options.progress = [&](const SweepPoint& p) {
      progress.step(join(plan.name, ", width ", p.size.width, ", heads ", p.size.heads),
                    steps(plan, p));
    };
    return infinite::compare(plan.network, x, plan.sweep, rng, options);
  };
  Study study;
  for (const Plan& plan : by_width)
    study.by_width.push_back({plan.name, compare(plan), plan.reference});
  for (const Plan& plan : by_heads) {
    HeadSeries series{plan.name, plan.network.scaling, compare(plan), {}, {}};
    for (const SweepPoint& p : plan.sweep) {
      const auto width = static_cast<double>(p.size.width);
      series.wide_law.push_back(law(s, series.scaling, x, {.heads = p.size.heads}, rng));
      const bool known =
          plan.network.zeta == Zeta::identity && series.scaling == AttentionScaling::sqrt;
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
