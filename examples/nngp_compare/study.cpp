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
using infinite::Comparison;
using infinite::ComparisonRow;
using infinite::SweepPoint;

namespace {

/// Those of the network whose errors are known: X[n, t, c] = ((7n + 5t + 3c + ntc) mod 11 − 5)/5.
Tensor reference_inputs() {
  std::vector<double> x;
  for (int n = 0; n < 3; ++n)
    for (int t = 0; t < 4; ++t)
      for (int c = 0; c < 3; ++c) x.push_back(((7 * n + 5 * t + 3 * c + n * t * c) % 11 - 5) / 5.0);
  return from_vector(x, {3, 4, 3});
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

namespace {

/// The excess kurtosis of theory, averaged over inputs and their tokens.
Measured law(const Settings& s, AttentionScaling scaling, const Tensor& x,
             const AttentionWidths& widths, Generator& rng) {
  if (scaling == AttentionScaling::linear) return {0, 0};  // nothing is random in wide heads
  const Weighting weighting = weighting_from_name(s.zeta);
  constexpr std::int64_t samples = 20000;
  const std::int64_t tokens = x.size(1);
  double mean = 0, variance = 0, count = 0;
  for (std::int64_t n = 0; n < x.size(0); ++n) {
    const Tensor one = select(x, 0, n);
    const Tensor k = matmul(one, transpose(one)) / static_cast<double>(x.size(2));
    // With identity ζ it is the same for every token.
    for (std::int64_t a = 0; a < (weighting == Weighting::identity ? 1 : tokens); ++a, ++count) {
      if (weighting == Weighting::identity) {
        mean += infinite::identity_kurtosis(k, k, widths);
        continue;
      }
      const Measured m = infinite::head_kurtosis(
          [weighting](const Tensor& logits) { return attention_weights(weighting, logits); }, 1, k,
          k, select(eye(tokens, f64), 0, a), widths.heads, samples, rng);
      mean += m.value;
      variance += m.se * m.se;
    }
  }
  return {mean / count, std::sqrt(variance) / count};
}

/// Steps of the progress line that a network takes.
double steps(const Plan& plan, const SweepPoint& point) {
  constexpr double unit = 1e4;
  return plan.network.cost(point.size) / unit;
}

/// The points of a plan, compared one after the other: all, or those before an interrupt.
class Comparing {
 public:
  Comparing(const Settings& s, const Tensor& x, Progress& progress)
      : x_(x), progress_(progress), rng_(s.common.seed, 2) {}

  Comparison operator()(const Plan& plan) {
    CompareOptions options = plan.options;
    options.progress = [&](const SweepPoint& p) {
      progress_.step(join(plan.name, ", width ", p.size.width, ", heads ", p.size.heads),
                     steps(plan, p));
    };
    Comparison all;
    complete_ =
        complete_ && ran_to_the_end([&] {
          for (const SweepPoint& point : plan.sweep)
            all.rows.push_back(infinite::compare(plan.network, x_, {point}, options, rng_).rows[0]);
        });
    all.nngp_slope = slope(all.rows, &ComparisonRow::nngp);
    if (options.networks.kernel.get == infinite::Get::ntk)
      all.ntk_slope = slope(all.rows, &ComparisonRow::ntk);
    return all;
  }

  Generator& rng() { return rng_; }
  bool complete() const { return complete_; }

 private:
  static infinite::Slope slope(const std::vector<ComparisonRow>& rows,
                               infinite::Agreement ComparisonRow::*which) {
    std::vector<double> widths;
    std::vector<Measured> errors;
    for (const ComparisonRow& row : rows) {
      widths.push_back(static_cast<double>(row.point.size.width));
      errors.push_back((row.*which).single_error);
    }
    return infinite::fit_slope(widths, errors);
  }

  const Tensor& x_;
  Progress& progress_;
  Generator rng_;
  bool complete_ = true;
};

/// What the networks of a plan showed, with what theory expects.
HeadSeries beside_laws(const Settings& s, const Tensor& x, const Plan& plan, Comparison comparison,
                       Generator& rng) {
  HeadSeries series{plan.name, plan.network.scaling, std::move(comparison), {}, {}, {}};
  const auto& rows = series.comparison.rows;
  const bool random_logits = series.scaling == AttentionScaling::sqrt;
  for (const ComparisonRow& row : rows) {
    const auto width = static_cast<double>(row.point.size.width);
    const std::int64_t heads = row.point.size.heads;
    series.wide_law.push_back(law(s, series.scaling, x, {.heads = heads}, rng));
    const bool known = plan.network.weighting == Weighting::identity && random_logits;
    series.law.push_back(known
                             ? law(s, series.scaling, x,
                                   {.heads = heads, .key_width = width, .value_width = width}, rng)
                             : Measured{});
  }
  Generator own(s.common.seed, 3);  // no figure of the table is to depend on these draws
  for (const ComparisonRow& row : rows)
    if (random_logits) {
      Generator weights(s.common.seed);  // whose numbers do not count
      series.outputs.push_back(law_of_heads(*plan.network(row.point.size, weights),
                                            row.point.size.heads, x, row.nngp.limit, own));
    }
  return series;
}

}  // namespace

Study run_study(const Settings& s, const Tensor& x) {
  const std::vector<Plan> by_width = width_plans(s, x), by_heads = head_plans(s, x);
  double total = 0;
  for (const auto* plans : {&by_width, &by_heads})
    for (const Plan& plan : *plans)
      for (const SweepPoint& point : plan.sweep)
        total += steps(plan, point) * static_cast<double>(point.draws);
  Progress progress(total);
  Comparing compare(s, x, progress);
  Study study;
  for (const Plan& plan : by_width)
    study.by_width.push_back({plan.name, compare(plan), plan.power, plan.reference});
  for (const Plan& plan : by_heads) {
    Comparison comparison = compare(plan);
    study.by_heads.push_back(beside_laws(s, x, plan, std::move(comparison), compare.rng()));
  }
  const auto empty = [](const auto& series) { return series.comparison.rows.empty(); };
  std::erase_if(study.by_width, empty);
  std::erase_if(study.by_heads, empty);
  study.interrupted = !compare.complete();
  return study;
}

}  // namespace ladon::example
