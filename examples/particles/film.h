#pragma once
// One target as a film: an SVG that moves by itself in a browser, and stands at its end elsewhere.

#include <filesystem>

#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Writes particles_film.svg: a panel a method, all at the same step. It needs no other program.
std::filesystem::path write_film(const Settings& settings, const TargetStudy& study);

}  // namespace ladon::example
