#pragma once
// How targets and methods look, in every picture.

#include <string>
#include <vector>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/particles/contours.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// A target's lines of equal density: in the smallest regions that hold 50, 80 and 95% of the
/// probability. All regions' lines, one after the other.
std::vector<Line> contours_of(const TargetStudy& study);
constexpr const char* contour_colour = "#b9c3d3";
constexpr const char* letters_colour = "#444444";

Style method_style(const std::string& method);
/// A method's name as pictures write it: "each alone" for none.
std::string method_words(const std::string& method);

/// The particles' places as points of the plane.
Line points_of(const Tensor& places);

/// The figure in a panel's corner: "right mode 22%" where there are modes, else "inner half 62%".
std::string corner(const Tensor& places, const TargetStudy& study);

std::string settings_line(const Settings& settings);
/// ", seed 3, of 8 the one nearest to the medians"
std::string seed_words(const Settings& settings, const std::vector<Outcome>& shown);

}  // namespace ladon::example
