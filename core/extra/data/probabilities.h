#pragma once
// Check of probabilities, shared by metrics.cpp and ensemble.cpp. Internal.

#include <cstdint>
#include <vector>

namespace ladon::metrics::detail {

/// The part of a row that a metric uses. `values`: all values, which must be probabilities.
/// `order`: only the index of the largest value, so that any scores are allowed.
enum class Reads { values, order };

/// Throws Error if a row of `classes` values contains NaN, which makes its largest entry undefined,
/// or, for Reads::values, is not a probability distribution: an entry is negative or above 1 by
/// more than 1e-6 (rounding), or the sum differs from 1 by more than 1e-3 (half precision).
void check_rows(const char* operation, const std::vector<double>& values, std::int64_t classes,
                Reads reads);

}  // namespace ladon::metrics::detail
