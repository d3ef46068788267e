#pragma once
// Where particles went, as pictures.

#include <filesystem>
#include <vector>

#include "ladon/examples/particles/collapse.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Draws particles.svg, the ends of all runs; particles_course.svg, one target in time, and
/// particles_film.svg, the same as a film (film.h); particles_collapse.svg. The paths of what there
/// is, and could be drawn.
std::vector<std::filesystem::path> draw(const Settings& settings,
                                        const std::vector<TargetStudy>& studies,
                                        const std::vector<Remaining>& collapse);

}  // namespace ladon::example
