#include "ladon/examples/nngp_compare/study.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/tensors/npy.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

using infinite::AttentionWidths;
using infinite::CompareOptions;

namespace {

/// Those of the network whose errors are known: X[n, t, c] = ((7n + 5t + 3c + ntc) mod 11 − 5)/5.
Tensor reference_inputs() {
  std::vector<double> x;
  for (int n = 0; n < 3; ++n)
    for (int t = 0; t < 4; ++t)
      for (int c = 0; c < 3; ++c) x.push_back(((7 * n + 5 * t + 3 * c + n * t * c) % 11 - 5) / 5.0);
  return from_vector(x, {3, 4, 3});
}

/// The excess kurtosis of theory, averaged over inputs and their tokens.
Measured expected_kurtosis(Weighting zeta, const Tensor& x, const AttentionWidths& widths,
                           Generator& rng) {
  constexpr std::int64_t samples = 20000;
  const auto weights = [zeta](const Tensor& logits) { return attention_weights(zeta, logits); };
  const std::int64_t tokens = x.size(1);
  double sum = 0, variance = 0;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    const Tensor one = select(x, 0, n);
    const Tensor k = matmul(one, transpose(one)) / static_cast<double>(x.size(2));
    for (std::int64_t t = 0; t < tokens; ++t) {
      const Measured of_token =
          zeta == Weighting::identity
              ? Measured{infinite::identity_kurtosis(k, k, widths)}
              : infinite::head_kurtosis(weights, 1, k, k, select(eye(tokens, f64), 0, t),
                                        widths.heads, samples, rng);
      sum += of_token.value;
      variance += of_token.se * of_token.se;
    }
  }
  const auto count = static_cast<double>(x.size(0) * tokens);
  return {sum / count, std::sqrt(variance) / count};
}

void add_theory(const Settings& s, const Tensor& x, Generator& rng, Series& series) {
  const Weighting zeta = weighting_from_name(s.zeta);
  Generator own(s.common.seed, 3);  // no figure of the table is to depend on these draws
  for (const infinite::ComparisonRow& row : series.rows) {
    Theory& theory = series.theory.emplace_back();
    if (series.plan.scaling == AttentionScaling::linear) {
      theory.wide_kurtosis = {0, 0};  // nothing is random in wide heads
      continue;
    }
    const auto [heads, width] = row.point.size;
    theory.wide_kurtosis = expected_kurtosis(zeta, x, {.heads = heads}, rng);
    const auto finite = static_cast<double>(width);
    if (zeta == Weighting::identity)
      theory.kurtosis = expected_kurtosis(
          zeta, x, {.heads = heads, .key_width = finite, .value_width = finite}, rng);
    Generator weights(s.common.seed);  // whose numbers do not count
    theory.outputs = law_of_outputs(row, *series.plan.network(row.point.size, weights), x, own);
  }
}

/// The points of a plan, one after the other, so that those before an interrupt are finished.
void compare(const Tensor& x, CompareOptions options, Progress& progress, Generator& rng,
             Series& series) {
  const Plan& plan = series.plan;
  options.progress = [&](const infinite::SweepPoint& p) {
    progress.step(join(plan.name, ", width ", p.size.width, ", heads ", p.size.heads));
  };
  for (const infinite::SweepPoint& point : plan.sweep)
    series.rows.push_back(infinite::compare(plan.network, x, {point}, options, rng).rows[0]);
}

}  // namespace

Tensor load_inputs(const Settings& s) {
  if (s.inputs.empty()) {
    Generator rng(s.common.seed, 1);
    if (s.preset == "reference") return reference_inputs();
    return normal({3, 4, 8}, rng, 0, 1, f64);
  }
  const Tensor x = load_npy(s.inputs);
  LADON_CHECK(x.rank() == 3 && x.count() > 0 && is_floating(x.dtype()), "nngp_compare", s.inputs,
              " must hold floating numbers [N, T, d], got ", x.dtype(), " of shape ", x.shape());
  return cast(x, f64);
}

Study run_study(const Settings& s, const Tensor& x) {
  Study study;
  std::int64_t networks = 0;
  const auto set_out = [&](const std::vector<Plan>& plans, std::vector<Series>& all) {
    for (const Plan& plan : plans) {
      all.push_back({plan});
      for (const infinite::SweepPoint& point : plan.sweep) networks += point.draws;
    }
  };
  set_out(width_plans(s, x.size(2)), study.by_width);
  set_out(head_plans(s, x.size(2)), study.by_heads);
  Progress progress(static_cast<double>(networks));
  Generator rng(s.common.seed, 2);
  CompareOptions options;
  options.networks.dtype = f32;
  options.networks.kernel.channels = 2;
  study.interrupted = !ran_to_the_end([&] {
    for (Series& series : study.by_width) compare(x, options, progress, rng, series);
    options.networks.kernel.get = infinite::Get::nngp;
    for (Series& series : study.by_heads) compare(x, options, progress, rng, series);
  });
  for (Series& series : study.by_heads) add_theory(s, x, rng, series);
  const auto empty = [](const Series& series) { return series.rows.empty(); };
  std::erase_if(study.by_width, empty);
  std::erase_if(study.by_heads, empty);
  return study;
}

}  // namespace ladon::example
