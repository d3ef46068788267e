#pragma once
// Line search with the strong Wolfe conditions.

#include <cstdint>
#include <functional>

#include "ladon/core/tensor.h"

namespace ladon {

/// A point of φ(t) = f(x + t·d).
struct LinePoint {
  double t, value, slope;  ///< t, φ(t), φ′(t)
  Tensor gradient = {};    ///< ∇f there; needed only at the chosen point.
};
using LineFunction = std::function<LinePoint(double t)>;

struct WolfeOptions {
  double decrease = 1e-4;         ///< c₁
  double curvature = 0.9;         ///< c₂
  std::int64_t evaluations = 25;  ///< Maximum number of calls of φ.
};

namespace detail {

/// Throws Error unless 0 < c₁ < c₂ < 1 and evaluations ≥ 1.
void check_wolfe(const WolfeOptions& options);

}  // namespace detail

/// Finds t > 0 with φ(t) ≤ φ(0) + c₁·t·φ′(0) and |φ′(t)| ≤ c₂·|φ′(0)|. Tries `first` first, and
/// returns it if it fulfils both. A value that is not finite counts as too large. If no such t is
/// found in `evaluations`, returns the point of least value that fulfils the first condition, or
/// `start` if none does. Throws Error unless start.t = 0, start.value is finite, start.slope < 0,
/// first > 0, 0 < c₁ < c₂ < 1 and evaluations ≥ 1.
/// (Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 3.5 and 3.6)
LinePoint strong_wolfe(const LineFunction& phi, const LinePoint& start, double first,
                       const WolfeOptions& options = {});

}  // namespace ladon
