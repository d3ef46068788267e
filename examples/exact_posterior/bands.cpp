#include "ladon/examples/exact_posterior/bands.h"

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/exact_posterior/task.h"

namespace ladon::example {

using Rows = std::vector<std::vector<double>>;

Tensor standard_deviation(const Belief& belief) { return sqrt(clone(diagonal(belief.covariance))); }

Rows band_rows(const Tensor& mean, const Tensor& sd) {
  const auto s = test_places().to_vector(), m = mean.to_vector(), d = sd.to_vector();
  Rows rows;
  for (std::size_t i = 0; i < s.size(); ++i)
    rows.push_back({s[i], m[i], m[i] - 2 * d[i], m[i] + 2 * d[i]});
  return rows;
}

std::string area(const std::string& file, const std::string& colour, double strength) {
  return join(file, " using 1:3:4 with filledcurves fs transparent solid ", strength,
              " noborder lc rgb '", colour, "' notitle");
}

std::string axes(const std::vector<Band>& bands) {
  double reach = 0;
  for (const Band& band : bands)
    for (const auto& row : band_rows(band)) reach = std::max({reach, -1.4 * row[2], 1.4 * row[3]});
  return join("set xlabel 's'\nset xrange [-3:3]\nset xtics -2,1,2\nset yrange [", -reach, ":",
              reach, "]\n");
}

std::string dots(Picture& picture, const Tensor& targets) {
  const auto places = training_places().to_vector(), y = targets.to_vector();
  Rows rows;
  for (std::size_t i = 0; i < places.size(); ++i) rows.push_back({places[i], y[i]});
  return picture.data("targets", rows) +
         " using 1:2 with points lc rgb '#000000' pt 7 ps 0.8 notitle";
}

nlohmann::ordered_json bands_json(const std::vector<Band>& bands) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Band& band : bands)
    all.push_back({{"method", band.method},
                   {"heads", band.heads > 0 ? nlohmann::ordered_json(band.heads) : nullptr},
                   {"mean", band.belief.mean.to_vector()},
                   {"sd", standard_deviation(band.belief).to_vector()}});
  return {{"bands", all}, {"places", test_places().to_vector()}};
}

}  // namespace ladon::example
