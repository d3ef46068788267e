#pragma once
// Line search with the strong Wolfe conditions.

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"

namespace ladon {

/// Point of φ(t) = f(x + t·d), the function f along the direction d.
struct LinePoint {
  double t, value, slope;  ///< t, φ(t), φ′(t)
  Tensor gradient = {};    ///< ∇f(x + t·d); needed only at the chosen point.
};
using LineFunction = std::function<LinePoint(double t)>;

struct WolfeOptions {
  double decrease = 1e-4;         ///< c₁, of the sufficient-decrease condition
  double curvature = 0.9;         ///< c₂, of the curvature condition
  std::int64_t evaluations = 25;  ///< Maximum number of calls of φ.
};

namespace detail {

/// Throws Error unless 0 < c₁ < c₂ < 1 and evaluations ≥ 1.
void check_wolfe(const WolfeOptions& options);

}  // namespace detail

/// Finds t > 0 with φ(t) ≤ φ(0) + c₁·t·φ′(0) and |φ′(t)| ≤ c₂·|φ′(0)|. Tries t = first before any
/// other, and returns that point if it fulfils both conditions. A value φ(t) that is not finite
/// counts as too large. If no such t is found within `evaluations` calls of φ, returns the point of
/// least value that fulfils the first condition, or `start` if no point does. Throws Error unless
/// start.t = 0, start.value, start.slope and `first` are finite, start.slope < 0, first > 0, 0 < c₁
/// < c₂ < 1 and evaluations ≥ 1.
/// (Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 3.5 and 3.6)
LinePoint strong_wolfe(const LineFunction& phi, const LinePoint& start, double first,
                       const WolfeOptions& options = {});

}  // namespace ladon
