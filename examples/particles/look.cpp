#include "ladon/examples/particles/look.h"

#include <algorithm>
#include <cstdio>

#include "ladon/examples/common/text.h"

namespace ladon::example {

std::vector<Line> contours_of(const TargetStudy& study) {
  std::vector<Line> all;
  for (const double share : {0.5, 0.8, 0.95}) {
    const std::vector<Line> lines = contour(study.target, study.truth.level(share));
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

Style method_style(const std::string& method) {
  const std::vector<std::string> names = method_names();
  return kind(
      static_cast<std::size_t>(std::find(names.begin(), names.end(), method) - names.begin()));
}

std::string method_words(const std::string& method) {
  return method == "none"   ? "each climbs alone"
         : method == "svgd" ? "share and repel"
         : method == "spos" ? "svgd and noise"
         : method == "wgd"  ? "climb and repel"
         : method == "sgld" ? "climb with noise"
                            : "roll, accept or not";
}

Line points_of(const Tensor& places) {
  const std::vector<double> values = places.to_vector<double>();
  Line points;
  for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
  return points;
}

std::string corner(const Tensor& places, const TargetStudy& study) {
  const Figures f = figures_of(places, study);
  const bool modes = study.target.divide.has_value();
  char text[64];
  std::snprintf(text, sizeof text, modes ? "right mode %.0f%%" : "inner half %.0f%%",
                100 * (modes ? f.mode_mass : f.inner_half));
  return text;
}

std::string settings_line(const Settings& s) {
  return join(s.particles, " particles, ", s.steps, " gradients each, rate ", s.rate,
              ", α = ", s.alpha);
}

std::string seed_words(const Settings& s, const std::vector<Outcome>& shown) {
  return join(", seed ", shown.front().seed,
              s.seeds == 1 ? "" : join(", of ", s.seeds, " the nearest to the medians"));
}

}  // namespace ladon::example
