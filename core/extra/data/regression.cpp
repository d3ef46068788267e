#include "ladon/core/extra/data/regression.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ladon/core/error.h"

namespace ladon::metrics {
namespace {

using Numbers = std::vector<double>;

Numbers checked(const char* operation, const char* what, const Tensor& x, const Shape& shape) {
  LADON_CHECK(x.defined() && is_floating(x.dtype()) && x.shape() == shape, operation, what,
              " must be floating ", shape, ", got ", ladon::detail::kind_in_words(x));
  Numbers values = x.detach().to_vector<double>();
  for (std::size_t i = 0; i < values.size(); ++i)
    LADON_CHECK(std::isfinite(values[i]), operation, what, " must be finite: entry ", i, " is ",
                values[i]);
  return values;
}

std::int64_t checked_targets(const char* operation, const Tensor& targets) {
  LADON_CHECK(targets.defined() && targets.rank() == 1 && targets.count() > 0, operation,
              "targets must be [N] with N > 0, got ", ladon::detail::shape_in_words(targets));
  return targets.size(0);
}

struct Gaussians {
  Gaussians(const char* operation, const Tensor& mean_, const Tensor& variance_,
            const Tensor& targets)
      : count(checked_targets(operation, targets)),
        y(checked(operation, "targets", targets, {count})),
        mean(checked(operation, "mean", mean_, {count})),
        variance(checked(operation, "variance", variance_, {count})) {
    for (std::int64_t i = 0; i < count; ++i)
      LADON_CHECK(variance[i] >= 0, operation, "variance ", i, " is ", variance[i],
                  ", below 0; variances must not be negative");
  }
  /// The mean of figure(y − μ, v) over targets y with predicted mean μ and variance v.
  template <class F>
  double average(const F& figure) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += figure(y[i] - mean[i], variance[i]);
    return sum / static_cast<double>(count);
  }
  std::int64_t count;
  Numbers y, mean, variance;
};

/// Each target with its draws in ascending order.
struct Sorted {
  Sorted(const char* operation, const Tensor& draws_, const Tensor& targets)
      : count(checked_targets(operation, targets)),
        y(checked(operation, "targets", targets, {count})) {
    LADON_CHECK(draws_.defined() && draws_.rank() == 2 && draws_.size(0) > 0, operation,
                "draws must be [S, N] with S > 0, got ", ladon::detail::shape_in_words(draws_));
    const std::int64_t s = draws_.size(0);
    const Numbers values = checked(operation, "draws", draws_, {s, count});
    draws.resize(count);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < s; ++k) draws[i].push_back(values[k * count + i]);
      std::sort(draws[i].begin(), draws[i].end());
    }
  }
  /// The mean over targets y of figure(y, sorted draws of y).
  template <class F>
  double average(const F& figure) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += figure(y[i], draws[i]);
    return sum / static_cast<double>(count);
  }
  std::int64_t count;
  Numbers y;
  std::vector<Numbers> draws;
};

template <class Share>
std::vector<double> at_levels(const std::vector<double>& levels, const Share& share) {
  std::vector<double> shares;
  for (const double level : levels) {
    LADON_CHECK(level >= 0 && level <= 1, "interval_coverage", "level ", level,
                " is outside [0, 1]");
    shares.push_back(share(level));
  }
  return shares;
}

// Bound on the rounding error of a rank among S draws: the error of 1 − level, times S + 1.
constexpr double rounding = 1e-9;

/// The sorted draw of rank `place`, counted from 1, interpolated linearly between two draws.
double at_place(const Numbers& sorted, double place) {
  const double last = static_cast<double>(sorted.size());
  // A rank that differs from an integer by rounding alone is replaced by that integer, so that the
  // quantile is exactly a draw.
  if (std::abs(place - std::round(place)) <= rounding) place = std::round(place);
  const double below = std::floor(std::clamp(place, 1.0, last));
  const auto k = static_cast<std::size_t>(below) - 1;
  const double rest = std::clamp(place, 1.0, last) - below;
  return rest == 0 ? sorted[k] : sorted[k] + rest * (sorted[k + 1] - sorted[k]);
}

}  // namespace

std::vector<double> interval_coverage(const Tensor& mean, const Tensor& variance,
                                      const Tensor& targets, const std::vector<double>& levels) {
  const Gaussians p("interval_coverage", mean, variance, targets);
  return at_levels(levels, [&](double level) {
    return p.average([=](double error, double v) {
      // The target is covered if P(|z| < |error|/σ) ≤ level, for z ~ N(0, 1).
      return error == 0 || (v > 0 && std::erf(std::abs(error) / std::sqrt(2 * v)) <= level);
    });
  });
}

std::vector<double> interval_coverage(const Tensor& draws, const Tensor& targets,
                                      const std::vector<double>& levels) {
  const Sorted p("interval_coverage", draws, targets);
  const auto s = static_cast<double>(draws.size(0));
  return at_levels(levels, [&](double level) {
    const double low = (1 - level) / 2 * (s + 1);
    LADON_CHECK(low >= 1 - rounding, "interval_coverage", "level ", level, " needs ",
                2 / (1 - level) - 1, " draws, got ", s, "; draw more, or ask for a lower level");
    return p.average([=](double y, const Numbers& sorted) {
      return at_place(sorted, low) <= y && y <= at_place(sorted, s + 1 - low);
    });
  });
}

double gaussian_nll(const Tensor& mean, const Tensor& variance, const Tensor& targets) {
  const Gaussians p("gaussian_nll", mean, variance, targets);
  for (std::int64_t i = 0; i < p.count; ++i)
    LADON_CHECK(p.variance[i] > 0, "gaussian_nll", "variance ", i,
                " is 0, so the density is infinite; add the variance of the noise");
  return p.average([](double error, double v) {
    return 0.5 * std::log(2 * std::numbers::pi * v) + error * error / (2 * v);
  });
}

double crps(const Tensor& mean, const Tensor& variance, const Tensor& targets) {
  const Gaussians p("crps", mean, variance, targets);
  return p.average([](double error, double v) {
    if (v == 0) return std::abs(error);
    const double sigma = std::sqrt(v), z = error / sigma;
    const double density = std::numbers::inv_sqrtpi / std::numbers::sqrt2 * std::exp(-z * z / 2);
    return sigma * (z * std::erf(z / std::numbers::sqrt2) + 2 * density - std::numbers::inv_sqrtpi);
  });
}

// Σ_{s<t} |x_s − x_t| = Σ_k (2k − S − 1)·x_(k) with the sorted draws x_(1) … x_(S).
double crps(const Tensor& draws, const Tensor& targets) {
  const Sorted p("crps", draws, targets);
  const auto s = static_cast<double>(draws.size(0));
  LADON_CHECK(s >= 2, "crps", "needs at least two draws per target, got 1");
  return p.average([=](double y, const Numbers& sorted) {
    double distance = 0, between = 0;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      distance += std::abs(sorted[k] - y);
      between += (2 * static_cast<double>(k) + 1 - s) * (sorted[k] - sorted[0]);
    }
    return distance / s - between / (s * (s - 1));
  });
}

}  // namespace ladon::metrics
