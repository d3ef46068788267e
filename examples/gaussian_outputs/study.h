#pragma once
// Distributions of the outputs of layers with few and many heads.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/examples/common/report.h"
#include "ladon/examples/nngp_compare/networks.h"

namespace ladon::example {

struct Settings : NetworkSettings {
  std::vector<std::int64_t> heads = {1, 2, 4, 8, 16, 32, 64};
  std::int64_t width = 128;   ///< Of a head.
  std::int64_t draws = 2000;  ///< Networks per number of heads.
};

struct Bin {
  double centre, width;
  Measured density;
};

/// Expectation of theory for the outputs of so many heads.
struct Theory {
  /// Excess kurtosis at this width (NaN where it is not known), and for infinitely wide heads.
  Measured kurtosis, wide_kurtosis;
  std::vector<Bin> outputs;  ///< Their law, for infinitely wide heads; empty with linear scaling.
};

/// Networks over numbers of heads.
struct HeadSeries : Series {
  std::vector<Theory> theory = {};  ///< Of each row.
};

using Study = std::vector<HeadSeries>;  ///< One per scaling.

/// Runs everything, or what there is time for before an interrupt, into the study. Returns whether
/// it was not interrupted.
bool run_study(const Settings& settings, const Tensor& x, Study& study);

/// Outputs over the limit's standard deviation, [draws, positions, channels].
Tensor standardized(const infinite::ComparisonRow& row);
/// Of standardized outputs. Those of one network depend on each other, so the standard errors are
/// those of a mean over networks.
std::vector<Bin> histogram(const infinite::ComparisonRow& row);
/// The same, in narrow bins, for infinitely wide heads of sqrt scaling, as many as the row's, in
/// `model`: the mean over all positions of x of infinite::FiniteHeads::outputs.
std::vector<Bin> law_of_outputs(const infinite::ComparisonRow& row, const Layer& model,
                                const Tensor& x, Generator& rng);

/// A row for each number of heads: how Gaussian outputs are.
Table head_table(const Study& study);
/// The series whose outputs the pictures show: of sqrt scaling if there is one.
const HeadSeries& series_shown(const Study& study);
/// Its rows that are shown: the first, the third and the last.
std::vector<std::size_t> rows_shown(const HeadSeries& series);
/// {"density"}: histograms and lines of the picture.
nlohmann::ordered_json densities(const Study& study);

/// Draws gaussian_outputs.svg by draw_clouds, gaussian_outputs_kurtosis.svg, against heads, and
/// gaussian_outputs_density.svg, of outputs for few and many heads.
void draw(const Settings& settings, const Study& study);
/// Outputs at two positions against each other, for few, more and many heads and in the limit;
/// nothing without two positions that vary.
void draw_clouds(const Settings& settings, const HeadSeries& series);

/// The page: heads and widths to turn, and one more network. Of a study with identity ζ, which the
/// page can draw by itself, and at least two tokens.
Page page(const Study& study, const Tensor& x);

}  // namespace ladon::example
