#pragma once
// Pictures of the particles' ways: SVG, one that moves by itself in a browser among them. Nothing
// else is needed to draw them.

#include <filesystem>
#include <vector>

#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Draws the ends of all targets' runs: particles.svg, an overview; and slides of three methods
/// each, particles_TARGET.svg, particles_TARGET_2.svg …, of the first target, with --panels of all.
std::vector<std::filesystem::path> draw_ends(const Settings& settings,
                                             const std::vector<TargetStudy>& studies);

/// Draws one target in time: particles_film.svg, particles_film_2.svg …, three methods each, which
/// stand at their end where nothing moves; with --panels also particles_course.svg, an overview of
/// several steps.
std::vector<std::filesystem::path> draw_course(const Settings& settings, const TargetStudy& study);

}  // namespace ladon::example
