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

/// The two middle values (ranks (N − 1)/2 and N/2 from 0) of N nonnegative values: `zeros` zeros,
/// and each element of `pairs` twice. Reorders `pairs`.
struct Middle {
  double low, high;
  double mean() const { return low + (high - low) / 2; }
};
Middle middle_of(std::vector<double>& pairs, std::size_t zeros) {
  const std::size_t count = 2 * pairs.size() + zeros, low = (count - 1) / 2, high = count / 2;
  if (high < zeros) return {0, 0};
  const auto at = pairs.begin() + static_cast<std::ptrdiff_t>((high - zeros) / 2);
  std::nth_element(pairs.begin(), at, pairs.end());
  if (low < zeros) return {0, *at};
  if ((low - zeros) / 2 == (high - zeros) / 2) return {*at, *at};
  return {*std::max_element(pairs.begin(), at), *at};
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
              "bandwidth", "squared distances must be contiguous [M, M] with M > 0, got ",
              detail::shape_in_words(squared_distances));
  rows::check_finite("bandwidth", "squared distance", squared_distances);
  if (fixed) return given;
  const std::int64_t m = squared_distances.size(0);
  const double* d2 = squared_distances.data<double>();
  if (m == 1) return 0;
  std::vector<double> pairs;
  for (std::int64_t i = 0; i < m; ++i) pairs.insert(pairs.end(), d2 + i * m, d2 + i * m + i);
  if (rule == Bandwidth::nips) {
    for (double& d : pairs) d = std::sqrt(d);
    const double distance = middle_of(pairs, 0).mean();
    return 0.5 * distance * distance / std::log(double(m));
  }
  const bool diagonal = rule == Bandwidth::liu || rule == Bandwidth::paper;
  const Middle middle = middle_of(pairs, diagonal ? static_cast<std::size_t>(m) : 0);
  return 0.5 * (rule == Bandwidth::paper ? middle.low : middle.mean()) / std::log(double(m) + 1);
}

}  // namespace ladon
