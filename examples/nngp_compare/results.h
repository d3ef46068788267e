#pragma once
// Results of the study, as tables and as JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ladon/examples/common/report.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

/// A row for each width of each series: how far one network is from the limit, and the mean of all.
Table width_table(const Study& study);
/// A row for each series: the power of width as which the error falls.
Table slope_table(const Study& study);
/// A row for each number of heads: how Gaussian outputs are.
Table head_table(const Study& study);

/// p of "error of one network ~ width^p", of one of both kernels.
Measured slope(const Series& series, infinite::Agreement infinite::ComparisonRow::*kernel);
/// So many digits after the point; zero has no sign.
std::string decimals(double x, int digits);

/// The series of heads whose outputs the pictures show: of sqrt scaling if there is one.
const Series& series_shown(const Study& study);
/// Its rows that are shown: the first, the third and the last.
std::vector<std::size_t> rows_shown(const Series& series);

/// Figures of the pictures that no table has: {"density", "entries"}, histograms and lines of the
/// densities, both kernels' entries and their z-scores.
nlohmann::ordered_json panels(const Study& study);

}  // namespace ladon::example
