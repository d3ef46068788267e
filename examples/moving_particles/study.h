#pragma once
// Paths of particles: the runs to show, as pictures, as a film, and on an interactive page.

#include <filesystem>
#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

struct Point {
  double x, y;
};
using Line = std::vector<Point>;

/// Points from the rows of [n, 2].
Line points_of(const Tensor& places);

/// Lines in `target.shown` on which ln p is `level`, by marching squares: segments from point 2i to
/// point 2i + 1.
Line contour(const PlaneTarget& target, double level);

/// Index of the run to show: the seed whose figures are nearest to the medians over seeds, in units
/// of their range, summed over methods.
std::size_t typical_run(const TargetStudy& study);

/// Draws the final particles of all targets' runs: moving_particles.svg, an overview; and slides of
/// three methods each, moving_particles_TARGET.svg, moving_particles_TARGET_2.svg …, of the first
/// target, or of all with --panels.
std::vector<std::filesystem::path> draw_ends(const Settings& settings,
                                             const std::vector<TargetStudy>& studies);

/// Draws one target over time, three methods per file: moving_particles_film.svg,
/// moving_particles_film_2.svg …, which show the last frame where animation is not supported.
std::vector<std::filesystem::path> draw_film(const Settings& settings, const TargetStudy& study);

/// Adds checks that compare the page's functions with the library's, for one target: scores,
/// bandwidth and forces of eight particles, once as they are at the start of a run, and once moved
/// so close together that the library bounds the repulsion.
void add_checks(const Settings& settings, const TargetStudy& study, nlohmann::ordered_json& checks);

/// Interactive page: particles move in real time, on the targets and in many dimensions.
Page page(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
