#pragma once
// Kernels of networks compared with the limit's, over widths.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/nngp_compare/networks.h"

namespace ladon::example {

struct Settings : NetworkSettings {
  std::string preset = "tour";       ///< `tour`, or `reference` (width_series()).
  std::vector<std::int64_t> widths;  ///< Empty: the widths of the preset.
  std::int64_t draws = 100;          ///< Networks per width.
};

/// Networks of increasing width.
struct WidthSeries : Series {
  double power = 0;  ///< Expected exponent of width in the error of one network.
  /// Errors of one network's NTK from another program, by width.
  std::map<std::int64_t, double> reference = {};
};

/// Series to run, whose rows are still empty: one head with linear scaling; one head, and a growing
/// number of heads, with sqrt scaling. With the preset `reference`, instead, networks whose errors
/// are known from another program.
std::vector<WidthSeries> width_series(const Settings& settings, std::int64_t channels);
/// Inputs of the preset `reference`, else load_inputs().
Tensor inputs_of(const Settings& settings);

using Study = std::vector<WidthSeries>;

/// Table with a row for each width of each series: the relative error of one network's kernels
/// against the limit, and z-scores of the mean over networks.
Table width_table(const Study& study);
/// Table with a row for each series: the exponent of width with which the error falls.
Table slope_table(const Study& study);
/// Exponent p in "error of one network ~ width^p", for one of the two kernels.
Measured slope(const Series& series, infinite::Agreement infinite::ComparisonRow::*kernel);
/// z-scores (mean over networks − limit)/standard error, for every distinct entry of both kernels
/// with a standard error.
std::vector<double> z_scores(const infinite::ComparisonRow& row);
/// Item "entries" of the report: both kernels' entries at the last width, with their z-scores.
nlohmann::ordered_json entries(const Study& study);

/// Draws nngp_compare.svg (error of one network against width) and nngp_compare_mean.svg (z-scores
/// of both kernels' entries).
void draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
