#include "ladon/examples/nngp_compare/distributions.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::example {

using infinite::Agreement;
using infinite::ComparisonRow;

Tensor over_positions(const Tensor& kernel) {
  if (kernel.rank() == 2) return kernel;
  const std::int64_t all = kernel.size(0) * kernel.size(2);
  return reshape(permute(kernel, {0, 2, 1, 3}), {all, all});
}

Tensor standardized(const ComparisonRow& row) {
  return row.outputs / unsqueeze(sqrt(diagonal(over_positions(row.nngp.limit))), 1);
}

namespace {

constexpr double narrow = 0.1;  // the width of bins where the density is high

/// Narrow bins in the middle, of which the peak of one head has need; wide ones in the tails, where
/// outputs are few. A bin lies around zero.
std::vector<double> bin_edges() {
  constexpr int narrow_bins = 31, wide_bins = 15;  // the latter on each side
  constexpr double wide = 0.3, middle = narrow_bins * narrow / 2;
  std::vector<double> edges;
  for (int i = wide_bins; i > 0; --i) edges.push_back(-middle - i * wide);
  for (int i = 0; i < narrow_bins; ++i) edges.push_back(-middle + i * narrow);
  for (int i = 0; i <= wide_bins; ++i) edges.push_back(middle + i * wide);
  return edges;
}

}  // namespace

Histogram outputs_histogram(const ComparisonRow& row) {
  const auto edges = bin_edges(), y = standardized(row).to_vector();
  const auto draws = static_cast<std::size_t>(row.outputs.size(0));
  const std::size_t of_a_draw = y.size() / draws;
  std::vector<std::vector<double>> counts(edges.size() - 1, std::vector<double>(draws, 0));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), y[i]);
    if (above == edges.begin() || above == edges.end()) continue;
    ++counts[static_cast<std::size_t>(above - edges.begin()) - 1][i / of_a_draw];
  }
  Histogram h;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const double width = edges[b + 1] - edges[b];
    const Measured count = estimate(counts[b]);
    const double unit = width * static_cast<double>(of_a_draw);
    h.centres.push_back((edges[b] + edges[b + 1]) / 2);
    h.widths.push_back(width);
    h.density.push_back({count.value / unit, count.se / unit});
  }
  return h;
}

Law law_of_heads(const Layer& model, std::int64_t heads, const Tensor& x, const Tensor& limit,
                 Generator& rng) {
  // Of many heads fewer draws are as good: variances differ less from draw to draw.
  const auto draws = static_cast<std::int64_t>(4000 / std::sqrt(static_cast<double>(heads)));
  constexpr int reach = 120;                 // bins on each side of the one around zero
  std::vector<double> beyond(reach + 1, 0);  // P(output > (b + ½)·narrow)
  const auto expected = diagonal(over_positions(limit)).to_vector();
  const auto outputs = infinite::finite_heads(model, {.heads = heads}).outputs(x, draws, rng);
  double all = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!(expected[i] > 0)) continue;
    all += static_cast<double>(outputs[i].variances().size());
    for (const double variance : outputs[i].variances())
      for (int b = 0; b <= reach; ++b)
        beyond[static_cast<std::size_t>(b)] +=
            std::erfc((b + 0.5) * narrow / std::sqrt(2 * variance / expected[i])) / 2;
  }
  Law law;
  if (all == 0) return law;
  for (int b = -reach; b <= reach; ++b) {
    const auto away = static_cast<std::size_t>(std::abs(b));
    const double inside = away == 0 ? all - 2 * beyond[0] : beyond[away - 1] - beyond[away];
    law.x.push_back(b * narrow);
    law.density.push_back(inside / (all * narrow));
  }
  return law;
}

std::vector<double> z_scores(const ComparisonRow& row) {
  std::vector<double> z;
  for (const Agreement* kernel : {&row.nngp, &row.ntk}) {
    if (!kernel->limit.defined()) continue;
    const Tensor limits = over_positions(kernel->limit);
    const auto limit = limits.to_vector(), mean = over_positions(kernel->mean).to_vector(),
               se = over_positions(kernel->se).to_vector();
    const auto positions = static_cast<std::size_t>(limits.size(0));
    for (std::size_t i = 0; i < positions; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        const std::size_t entry = i * positions + j;
        if (se[entry] > 0) z.push_back((mean[entry] - limit[entry]) / se[entry]);
      }
  }
  return z;
}

}  // namespace ladon::example
