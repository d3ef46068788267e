#include "ladon/optim/extra/optimizers/line_search.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Position t of the minimum of the cubic that interpolates values and slopes at two points
/// (Nocedal and Wright, equation 3.59); the midpoint of the points if the cubic has no minimum, or
/// a number is not finite.
double cubic_minimum(const LinePoint& a, const LinePoint& b) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
  const double d2 = std::copysign(std::sqrt(d1 * d1 - a.slope * b.slope), b.t - a.t);
  const double t = b.t - (b.t - a.t) * (b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2);
  return std::isfinite(t) ? t : (a.t + b.t) / 2;
}

class Search {
 public:
  Search(const LineFunction& phi, const LinePoint& start, const WolfeOptions& options)
      : phi_(phi), start_(start), options_(options), left_(options.evaluations) {}

  /// Increases t until it fulfils both Wolfe conditions, or until an interval is known to contain
  /// such a t (Nocedal and Wright, algorithm 3.5).
  LinePoint run(double t) {
    LinePoint before = start_;
    while (left_ > 0) {
      LinePoint now = at(t);
      if (too_large(now) || (before.t > 0 && now.value >= before.value)) return zoom(before, now);
      if (flat(now)) return now;
      if (now.slope >= 0) return zoom(now, before);
      t = std::clamp(cubic_minimum(before, now), 1.1 * now.t, 10 * now.t);
      before = std::move(now);
      if (!std::isfinite(t)) break;  // φ decreases without bound
    }
    return before;
  }

 private:
  LinePoint at(double t) {
    --left_;
    return phi_(t);
  }
  bool too_large(const LinePoint& p) const {
    return !std::isfinite(p.value) || !std::isfinite(p.slope) ||
           p.value > start_.value + options_.decrease * p.t * start_.slope;
  }
  bool flat(const LinePoint& p) const {
    return std::abs(p.slope) <= options_.curvature * -start_.slope;
  }

  /// Shrinks an interval that contains a t that fulfils both Wolfe conditions; `low` is the end
  /// with the least value of all points that fulfil the first condition (Nocedal and Wright,
  /// algorithm 3.6). Trial points keep a tenth of the width away from both ends, so that the
  /// interval shrinks.
  LinePoint zoom(LinePoint low, LinePoint high) {
    while (left_ > 0) {
      const double width = high.t - low.t, margin = 0.1 * std::abs(width);
      if (std::abs(width) <= 1e-15 * std::max(low.t, high.t)) break;
      const double trial = cubic_minimum(low, high);
      LinePoint now =
          at(std::clamp(trial, std::min(low.t, high.t) + margin, std::max(low.t, high.t) - margin));
      if (too_large(now) || now.value >= low.value) {
        high = std::move(now);
        continue;
      }
      if (flat(now)) return now;
      if (now.slope * width >= 0) high = std::move(low);
      low = std::move(now);
    }
    return low;
  }

  const LineFunction& phi_;
  const LinePoint& start_;
  const WolfeOptions& options_;
  std::int64_t left_;
};

}  // namespace

void detail::check_wolfe(const WolfeOptions& options) {
  LADON_CHECK(0 < options.decrease && options.decrease < options.curvature && options.curvature < 1,
              "strong_wolfe", "decrease and curvature are ", options.decrease, " and ",
              options.curvature, "; 0 < decrease < curvature < 1 is required");
  LADON_CHECK(options.evaluations >= 1, "strong_wolfe", "evaluations is ", options.evaluations,
              "; it must be at least 1");
}

LinePoint strong_wolfe(const LineFunction& phi, const LinePoint& start, double first,
                       const WolfeOptions& options) {
  LADON_CHECK(static_cast<bool>(phi), "strong_wolfe",
              "the function is empty; pass one that returns the LinePoint at t");
  LADON_CHECK(
      start.t == 0 && std::isfinite(start.value) && start.slope < 0 && std::isfinite(start.slope),
      "strong_wolfe", "the start is t = ", start.t, " with value ", start.value, " and slope ",
      start.slope, "; t must be 0, value and slope finite, and the slope negative");
  LADON_CHECK(first > 0 && std::isfinite(first), "strong_wolfe", "the first step length to try is ",
              first, "; it must be finite and positive");
  detail::check_wolfe(options);
  return Search(phi, start, options).run(first);
}

}  // namespace ladon
