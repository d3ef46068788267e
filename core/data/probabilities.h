#pragma once
// The check of probabilities that metrics and ensembles share. Internal.

#include <cstdint>
#include <vector>

namespace ladon::metrics::detail {

/// Throws Error for the first row of `classes` values that are no probabilities: one is outside
/// [0, 1] or NaN, or their sum is not 1 to within 1e-3 (which half precision and averages keep).
void check_probabilities(const char* operation, const std::vector<double>& values,
                         std::int64_t classes);
/// Throws Error for a row that holds NaN, in which nothing is largest.
void check_order(const char* operation, const std::vector<double>& values, std::int64_t classes);

}  // namespace ladon::metrics::detail
