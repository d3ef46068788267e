#pragma once
// The ways of particles: which runs are shown, as pictures, a film among them, and as a page.

#include <filesystem>
#include <vector>

#include "ladon/examples/common/page/page.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

struct Point {
  double x, y;
};
using Line = std::vector<Point>;

/// The rows of [n, 2].
Line points_of(const Tensor& places);

/// Lines in `target.shown` where ln p is `level`, by marching squares: pieces from every second
/// point to the next.
Line contour(const PlaneTarget& target, double level);

/// Which of the runs of each method to show: that of the seed whose figures are nearest to the
/// medians over seeds, in units of their range, summed over methods.
std::size_t typical_run(const TargetStudy& study);

/// Draws the ends of all targets' runs: moving_particles.svg, an overview; and slides of three
/// methods each, moving_particles_TARGET.svg, moving_particles_TARGET_2.svg …, of the first target,
/// with --panels of all.
std::vector<std::filesystem::path> draw_ends(const Settings& settings,
                                             const std::vector<TargetStudy>& studies);

/// Draws one target in time, three methods each: moving_particles_film.svg,
/// moving_particles_film_2.svg …, which stand at their end where nothing moves.
std::vector<std::filesystem::path> draw_film(const Settings& settings, const TargetStudy& study);

/// What the page computes by itself, computed by the library, of one target: scores, bandwidth and
/// forces of eight particles, at the start of a run and where it has drawn together: there the
/// library bounds the repulsion.
void add_checks(const Settings& settings, const TargetStudy& study, nlohmann::ordered_json& checks);

/// Particles that move while one looks, on the targets and in many dimensions.
Page page(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
