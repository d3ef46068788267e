#pragma once
// Lines of equal density.

#include <vector>

#include "ladon/examples/particles/targets.h"

namespace ladon::example {

using Line = std::vector<Point>;

/// Without points that are less than half a pixel of the pictures away from the line through others
/// (Ramer 1972; Douglas and Peucker 1973).
Line thinned(const Line& line);

/// The lines in `target.shown` where ln p is `level`, by marching squares, thinned. A closed one
/// ends where it begins.
std::vector<Line> contour(const PlaneTarget& target, double level);

}  // namespace ladon::example
