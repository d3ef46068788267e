#include "ladon/optim/particles/bandwidth.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/names.h"
#include "ladon/optim/particles/rows.h"

namespace ladon {
namespace {

constexpr std::array<std::string_view, 5> bandwidth_names = {"median", "liu", "paper", "nips",
                                                             "fixed"};
static_assert(bandwidth_names.size() == static_cast<std::size_t>(Bandwidth::fixed) + 1);

/// The element of rank k (from 0) of the values, which are reordered.
double ranked(std::vector<double>& values, std::size_t k) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(k), values.end());
  return values[k];
}

double lower_median(std::vector<double>& values) { return ranked(values, (values.size() - 1) / 2); }

double median(std::vector<double>& values) {
  const double low = lower_median(values);
  return low + (ranked(values, values.size() / 2) - low) / 2;
}

}  // namespace

std::string_view to_string(Bandwidth rule) {
  return bandwidth_names[static_cast<std::size_t>(rule)];
}

Bandwidth bandwidth_from_name(std::string_view name) {
  return static_cast<Bandwidth>(index_of_name("bandwidth", name, bandwidth_names));
}

double bandwidth(Bandwidth rule, const Tensor& squared_distances, double given) {
  const bool fixed = rule == Bandwidth::fixed;
  LADON_CHECK(!fixed || (std::isfinite(given) && given > 0), "bandwidth", "the fixed h² is ", given,
              "; it must be positive and finite");
  LADON_CHECK(squared_distances.defined() && squared_distances.rank() == 2 &&
                  squared_distances.size(0) == squared_distances.size(1) &&
                  squared_distances.count() > 0 && squared_distances.contiguous(),
              "bandwidth", "squared distances are contiguous [M, M] with M > 0, got ",
              squared_distances.shape());
  rows::check_finite("bandwidth", "squared distance", squared_distances);
  if (fixed) return given;
  const std::int64_t m = squared_distances.size(0);
  const double* d2 = squared_distances.data<double>();
  const bool diagonal = rule == Bandwidth::liu || rule == Bandwidth::paper;
  std::vector<double> values;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      if (i != j || diagonal) values.push_back(d2[i * m + j]);
  if (m == 1) return 0;
  if (rule == Bandwidth::nips) {
    for (double& v : values) v = std::sqrt(v);
    const double distance = median(values);
    return 0.5 * distance * distance / std::log(double(m));
  }
  return 0.5 * (rule == Bandwidth::paper ? lower_median(values) : median(values)) /
         std::log(double(m) + 1);
}

}  // namespace ladon
