#include "ladon/optim/posterior/classification.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"
#include "ladon/optim/posterior/solve.h"

namespace ladon {
namespace {

// p_c = ∫ φ(x − μ_c) Π_{c' ≠ c} Φ(x − μ_c') dx in units of the standard deviation, with the largest
// mean at 0. The integrand of a class at −D peaks between −D/2 and 0 and is below e^(−50) of its
// peak 10 further; classes beyond D = 56 have probabilities below 1e-300. So all classes share the
// interval [−38, 12]; the trapezoidal rule converges geometrically on such integrands.
constexpr double lowest = -38, highest = 12, spacing = 0.125;
constexpr int points = static_cast<int>((highest - lowest) / spacing) + 1;

// One row. `below` and `density` are work space of the size of a row.
void largest_probability(std::int64_t classes, const double* mean, double variance, double* p,
                         std::vector<double>& below, std::vector<double>& density) {
  const double most = *std::max_element(mean, mean + classes), deviation = std::sqrt(variance);
  std::fill(p, p + classes, 0.0);
  for (int i = 0; i < points; ++i) {
    const double x = lowest + spacing * i;
    double left = 1;  // Π of Φ over the classes before c; then the same over those after it
    for (std::int64_t c = 0; c < classes; ++c) {
      const double z = x + (most - mean[c]) / deviation;
      below[c] = 0.5 * std::erfc(-z * std::numbers::sqrt2 / 2);
      density[c] = std::exp(-0.5 * z * z) * left;
      left *= below[c];
    }
    double right = 1;
    for (std::int64_t c = classes - 1; c >= 0; --c) {
      p[c] += density[c] * right;
      right *= below[c];
    }
  }
  double total = 0;
  for (std::int64_t c = 0; c < classes; ++c) total += p[c];
  for (std::int64_t c = 0; c < classes; ++c) p[c] /= total;
}

// The limit of variance 0.
void share_among_largest(std::int64_t classes, const double* mean, double* p) {
  const double most = *std::max_element(mean, mean + classes);
  const double count = static_cast<double>(std::count(mean, mean + classes, most));
  for (std::int64_t c = 0; c < classes; ++c) p[c] = mean[c] == most ? 1 / count : 0;
}

}  // namespace

Tensor classification_targets(const Tensor& labels, std::int64_t classes) {
  constexpr std::string_view operation = "classification_targets";
  LADON_CHECK(classes >= 2, operation, "the number of classes is ", classes,
              "; it must be at least 2");
  LADON_CHECK(labels.defined() && labels.dtype() == i64 && labels.rank() == 1, operation,
              "labels must be i64 [N], got ", labels.dtype(), " ", labels.shape());
  for (const std::int64_t label : labels.to_vector<std::int64_t>())
    LADON_CHECK(label >= 0 && label < classes, operation, "label ", label, " is outside [0, ",
                classes, ")");
  return one_hot(labels, classes, f64) - 1.0 / static_cast<double>(classes);
}

Tensor class_probabilities(const Tensor& mean, const Tensor& variance) {
  constexpr std::string_view operation = "class_probabilities";
  LADON_CHECK(mean.defined() && mean.rank() == 2 && mean.size(1) >= 2, operation,
              "the mean must be [M, classes] with at least 2 classes, got ", mean.shape());
  const std::int64_t rows = mean.size(0), classes = mean.size(1);
  LADON_CHECK(variance.defined() && variance.shape() == Shape{rows}, operation,
              "the variance must be [", rows, "], one a row of the mean, got ", variance.shape());
  const Tensor m = kernel_blocks::cross_block(operation, "the mean", mean, rows, classes);
  const Tensor v =
      kernel_blocks::cross_block(operation, "the variance", unsqueeze(variance, 1), rows, 1);
  Tensor p = empty({rows, classes}, f64);
  const double *from = m.data<double>(), *s = v.data<double>();
  for (std::int64_t i = 0; i < rows; ++i)
    LADON_CHECK(s[i] >= 0, operation, "the variance of row ", i, " is ", s[i], "; it is negative");
  double* to = p.mutable_data<double>();
  parallel::for_range(rows, 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> below(static_cast<std::size_t>(classes)), density(below.size());
    for (std::int64_t i = begin; i < end; ++i)
      if (s[i] > 0)
        largest_probability(classes, from + i * classes, s[i], to + i * classes, below, density);
      else
        share_among_largest(classes, from + i * classes, to + i * classes);
  });
  return p;
}

}  // namespace ladon
