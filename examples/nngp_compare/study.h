#pragma once
// Kernels of networks against the limit's, over widths.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/nngp_compare/networks.h"

namespace ladon::example {

struct Settings : NetworkSettings {
  std::string preset = "tour";       ///< tour or reference
  std::vector<std::int64_t> widths;  ///< Empty: the preset's.
  std::int64_t draws = 100;          ///< Networks per width.
};

/// Networks over widths.
struct WidthSeries : Series {
  double power = 0;  ///< Of width, as which the error of one network is expected to go.
  /// Errors of one network's NTK that another program found, by width.
  std::map<std::int64_t, double> reference = {};
};

/// With linear scaling one head, with sqrt scaling one and a number that grows. The preset
/// `reference` has networks of its own. Without rows.
std::vector<WidthSeries> width_series(const Settings& settings, std::int64_t channels);
/// load_inputs(), or those of the preset `reference`.
Tensor inputs_of(const Settings& settings);

using Study = std::vector<WidthSeries>;

/// A row for each width of each series: how far one network is from the limit, and the mean of all.
Table width_table(const Study& study);
/// A row for each series: the power of width as which the error falls.
Table slope_table(const Study& study);
/// p of "error of one network ~ width^p", of one of both kernels.
Measured slope(const Series& series, infinite::Agreement infinite::ComparisonRow::*kernel);
/// (mean over networks − limit)/standard error, of every different entry of both kernels that has
/// one.
std::vector<double> z_scores(const infinite::ComparisonRow& row);
/// {"entries"}: both kernels' entries at the largest width, and their z-scores.
nlohmann::ordered_json entries(const Study& study);

/// Draws nngp_compare.svg, the error of one network against width, and nngp_compare_mean.svg,
/// z-scores of both kernels' entries.
void draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
