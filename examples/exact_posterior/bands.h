#pragma once
// Posterior means and standard deviations of functions of s, as bands for pictures and for the
// report.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/plot.h"
#include "ladon/optim/posterior/belief.h"

namespace ladon::example {

/// Posterior of the function f by one method, given the first data set; pictures show it as a band.
struct Band {
  std::string method;      ///< "finite_heads" and "gp" are exact.
  std::int64_t heads = 0;  ///< 0: infinitely many.
  Belief belief = {};
  std::int64_t steps = 0;  ///< Steps of the method; 0: not applicable.
};

Tensor standard_deviation(const Belief& belief);  // [M]

/// Rows of s, mean, and the ends of mean ± 2 standard deviations; mean and sd are [M].
std::vector<std::vector<double>> band_rows(const Tensor& mean, const Tensor& sd);
inline std::vector<std::vector<double>> band_rows(const Band& band) {
  return band_rows(band.belief.mean, standard_deviation(band.belief));
}

// --- parts of gnuplot scripts ---

/// Plots the area between the ends of a band, from a file of band_rows().
std::string area(const std::string& file, const std::string& colour, double strength);
/// Settings of the axes s and f(s), such that these bands fit.
std::string axes(const std::vector<Band>& bands);
/// Plots the targets [N] as dots.
std::string dots(Picture& picture, const Tensor& targets);

/// Entries "bands" and "places" of the report.
nlohmann::ordered_json bands_json(const std::vector<Band>& bands);

}  // namespace ladon::example
