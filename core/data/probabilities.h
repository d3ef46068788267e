#pragma once
// The check of probabilities that metrics and ensembles share. Internal.

#include <cstdint>
#include <vector>

namespace ladon::metrics::detail {

/// What a metric reads of a row: its values, or where the largest stands, which any scores tell.
enum class Reads { values, order };

/// Throws Error for the first row of `classes` values that holds NaN, in which nothing is largest,
/// or whose values, where they are read, are no probabilities: one is negative or, by more than the
/// 1e-6 of rounding, above 1, or their sum is not 1 to within the 1e-3 of half precision.
void check_rows(const char* operation, const std::vector<double>& values, std::int64_t classes,
                Reads reads);

}  // namespace ladon::metrics::detail
