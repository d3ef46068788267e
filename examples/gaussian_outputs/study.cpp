#include "ladon/examples/gaussian_outputs/study.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"

namespace ladon::example {

using infinite::AttentionWidths;

namespace {

/// Theoretical excess kurtosis, averaged over inputs and their tokens.
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

void add_theory(const Settings& s, const Tensor& x, Generator& rng, HeadSeries& series) {
  const Weighting zeta = weighting_from_name(s.zeta);
  Generator own(s.common.seed, 3);  // not `rng`, so that these draws do not change the table
  for (const infinite::ComparisonRow& row : series.rows) {
    Theory& theory = series.theory.emplace_back();
    if (series.scaling == AttentionScaling::linear) {
      theory.wide_kurtosis = {0, 0};  // wide heads are deterministic
      continue;
    }
    const auto [heads, width] = row.point.size;
    theory.wide_kurtosis = expected_kurtosis(zeta, x, {.heads = heads}, rng);
    const auto finite = static_cast<double>(width);
    if (zeta == Weighting::identity)
      theory.kurtosis = expected_kurtosis(
          zeta, x, {.heads = heads, .key_width = finite, .value_width = finite}, rng);
    Generator weights(s.common.seed);  // a required argument; the weights are not used
    theory.outputs = law_of_outputs(row, *series.network(row.point.size, weights), x, own);
  }
}

Study head_series(const Settings& s, std::int64_t channels) {
  constexpr std::int64_t outputs_looked_at = 16;
  Study all;
  for (const std::string& name : s.scalings) {
    const AttentionScaling scaling = attention_scaling_from_name(name);
    const AttentionForm attention_form = form(scaling, weighting_from_name(s.zeta));
    all.push_back({{name, scaling, attention(attention_form, channels, outputs_looked_at)}});
    for (const std::int64_t heads : s.heads)
      all.back().sweep.push_back({{.heads = heads, .width = s.width}, s.draws});
  }
  return all;
}

}  // namespace

bool run_study(const Settings& s, const Tensor& x, Study& study) {
  study = head_series(s, x.size(2));
  Progress progress(static_cast<double>(study.size() * s.heads.size()) *
                    static_cast<double>(s.draws));
  Generator rng(s.common.seed, 2);
  rng.set_position(18);  // nngp_compare's networks use the earlier blocks of the stream
  const bool whole = ran_to_the_end([&] {
    for (Series& series : study) compare(x, infinite::Get::nngp, progress, rng, series);
  });
  for (HeadSeries& series : study) add_theory(s, x, rng, series);
  std::erase_if(study, [](const Series& series) { return series.rows.empty(); });
  return whole;
}

}  // namespace ladon::example
