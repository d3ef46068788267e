#pragma once
// The check of probabilities that metrics and ensembles share. Internal.

#include <cstdint>
#include <vector>

namespace ladon::metrics::detail {

/// What a metric reads of a row: its values, which must be probabilities, or only the index of its
/// largest value, so that any scores are allowed.
enum class Reads { values, order };

/// Throws Error if a row of `classes` values contains NaN, which makes its largest entry undefined,
/// or, for Reads::values, is not a probability distribution: an entry is negative or above 1 by
/// more than 1e-6 (rounding), or the sum differs from 1 by more than 1e-3 (half precision).
void check_rows(const char* operation, const std::vector<double>& values, std::int64_t classes,
                Reads reads);

}  // namespace ladon::metrics::detail
