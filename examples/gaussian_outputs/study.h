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
  std::int64_t width = 128;   ///< Width of a head.
  std::int64_t draws = 2000;  ///< Networks per number of heads.
};

struct Bin {
  double centre, width;
  Measured density;
};

/// Predictions of theory for the outputs of layers with a given number of heads.
struct Theory {
  /// Excess kurtosis at this width (NaN if unknown), and for infinitely wide heads.
  Measured kurtosis, wide_kurtosis;
  std::vector<Bin> outputs;  ///< Exact histogram of wide heads; empty with linear scaling.
};

/// Results of networks with increasing numbers of heads.
struct HeadSeries : Series {
  std::vector<Theory> theory = {};  ///< Predictions for each of the rows.
};

using Study = std::vector<HeadSeries>;  ///< A series per scaling of logits.

/// Runs the study until it is finished or interrupted; finished rows remain. Returns false if it
/// was interrupted.
bool run_study(const Settings& settings, const Tensor& x, Study& study);

/// Outputs divided by the limit's standard deviation, [draws, positions, channels].
Tensor standardized(const infinite::ComparisonRow& row);
/// Histogram of standardized outputs. Its standard errors are over networks, since outputs of one
/// network are dependent.
std::vector<Bin> histogram(const infinite::ComparisonRow& row);
/// The exact histogram, in narrow bins, of standardized outputs of `model` with sqrt scaling and
/// with as many heads as in the row, each infinitely wide. It is the mean, over all positions of x,
/// of the distributions that infinite::FiniteHeads::outputs returns.
std::vector<Bin> law_of_outputs(const infinite::ComparisonRow& row, const Layer& model,
                                const Tensor& x, Generator& rng);

/// A row for each number of heads: how Gaussian the outputs are.
Table head_table(const Study& study);
/// The series shown in pictures: the one with sqrt scaling if there is one.
const HeadSeries& series_shown(const Study& study);
/// Indices of the rows of this series that are shown: the first, the third and the last.
std::vector<std::size_t> rows_shown(const HeadSeries& series);
/// Entry "density" of the report: histograms and curves of the picture.
nlohmann::ordered_json densities(const Study& study);

/// Draws gaussian_outputs.svg by draw_clouds(), gaussian_outputs_kurtosis.svg (kurtosis against
/// heads) and gaussian_outputs_density.svg (densities for few and many heads).
void draw(const Settings& settings, const Study& study);
/// Draws outputs at two positions against each other, for few, more and many heads and in the
/// limit. Draws nothing if no two positions have outputs that differ and are correlated.
void draw_clouds(const Settings& settings, const HeadSeries& series);

/// Interactive page, on which the reader sets heads and widths, and draws further networks. Needs a
/// study with identity ζ, for which the page can draw outputs by itself, and at least two tokens.
Page page(const Study& study, const Tensor& x);

}  // namespace ladon::example
