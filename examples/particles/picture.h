#pragma once
// Pictures of the particles' ways: SVG, one that moves by itself in a browser among them. Nothing
// else is needed to draw them.

#include <filesystem>
#include <vector>

#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Draws particles.svg, the ends of all targets' runs.
std::filesystem::path draw_ends(const Settings& settings, const std::vector<TargetStudy>& studies);

/// Draws particles_course.svg, one target at several steps.
std::filesystem::path draw_course(const Settings& settings, const TargetStudy& study);

/// Draws particles_film.svg: a panel a method, all at the same step. It stands at its end where
/// nothing moves.
std::filesystem::path draw_film(const Settings& settings, const TargetStudy& study);

}  // namespace ladon::example
