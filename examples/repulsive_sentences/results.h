#pragma once
// Results of the study, as tables and pictures.

#include <filesystem>

#include "ladon/examples/common/report.h"
#include "ladon/examples/repulsive_sentences/study.h"

namespace ladon::example {

Table arms_table(const Study& study);
/// Each arm less plain; then svgd less the arms that change W_s2 otherwise. Two families.
Table contrast_table(const Study& study);
Table tuning_table(const Study& study);

/// Draws out/repulsive_sentences.svg, answers and maps against the size of W_s2; an empty path
/// where no seed was finished, or gnuplot is not there.
std::filesystem::path draw(const Settings& settings, const Study& study);

}  // namespace ladon::example
