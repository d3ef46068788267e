#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/gaussian_outputs/study.h"
#include "ladon/layers/infinite/finite/heads.h"

namespace ladon::example {

using infinite::ComparisonRow;

Tensor standardized(const ComparisonRow& row) {
  return row.outputs / unsqueeze(sqrt(diagonal(over_positions(row.nngp.limit))), 1);
}

namespace {

constexpr double narrow = 0.1;  // width of bins where the density is high

/// Edges of bins: narrow in the middle, to resolve the peak of one head; wide in the tails, where
/// outputs are rare. One bin is centred at zero.
std::vector<double> bin_edges() {
  constexpr int narrow_bins = 31, wide_bins = 15;  // 15 wide bins on each side
  constexpr double wide = 0.3, middle = narrow_bins * narrow / 2;
  std::vector<double> edges;
  for (int i = wide_bins; i > 0; --i) edges.push_back(-middle - i * wide);
  for (int i = 0; i < narrow_bins; ++i) edges.push_back(-middle + i * narrow);
  for (int i = 0; i <= wide_bins; ++i) edges.push_back(middle + i * wide);
  return edges;
}

}  // namespace

std::vector<Bin> histogram(const ComparisonRow& row) {
  const auto edges = bin_edges(), y = standardized(row).to_vector();
  const auto draws = static_cast<std::size_t>(row.outputs.size(0));
  const std::size_t of_a_draw = y.size() / draws;
  std::vector<std::vector<double>> counts(edges.size() - 1, std::vector<double>(draws, 0));
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), y[i]);
    if (above == edges.begin() || above == edges.end()) continue;
    ++counts[static_cast<std::size_t>(above - edges.begin()) - 1][i / of_a_draw];
  }
  std::vector<Bin> bins;
  for (std::size_t b = 0; b < counts.size(); ++b) {
    const double width = edges[b + 1] - edges[b];
    const Measured count = estimate(counts[b]);
    const double unit = width * static_cast<double>(of_a_draw);
    bins.push_back({(edges[b] + edges[b + 1]) / 2, width, {count.value / unit, count.se / unit}});
  }
  return bins;
}

std::vector<Bin> law_of_outputs(const ComparisonRow& row, const Layer& model, const Tensor& x,
                                Generator& rng) {
  const std::int64_t heads = row.point.size.heads;
  // With many heads fewer draws suffice: variances differ less from draw to draw.
  const auto draws = static_cast<std::int64_t>(4000 / std::sqrt(static_cast<double>(heads)));
  const auto limit = diagonal(over_positions(row.nngp.limit)).to_vector();
  const auto outputs = infinite::finite_heads(model, {.heads = heads}).outputs(x, draws, rng);
  const auto below = [&](double y) {
    double sum = 0;
    for (std::size_t i = 0; i < limit.size(); ++i) sum += outputs[i].cdf(y * std::sqrt(limit[i]));
    return sum / static_cast<double>(limit.size());
  };
  constexpr int reach = 120;  // bins on each side of the central one
  std::vector<Bin> bins;
  double low = below(-(reach + 0.5) * narrow);
  for (int b = -reach; b <= reach; ++b) {
    const double high = below((b + 0.5) * narrow);
    bins.push_back({b * narrow, narrow, {(high - low) / narrow}});
    low = high;
  }
  return bins;
}

}  // namespace ladon::example
