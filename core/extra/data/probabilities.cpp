#include "ladon/core/extra/data/probabilities.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"

namespace ladon::metrics::detail {

void check_rows(const char* operation, const std::vector<double>& values, std::int64_t classes,
                Reads reads) {
  for (std::size_t i = 0; i < values.size(); ++i)
    LADON_CHECK(!std::isnan(values[i]), operation, "an entry of row ",
                static_cast<std::int64_t>(i) / classes, " is NaN");
  if (reads == Reads::order) return;
  for (auto row = values.begin(); row != values.end(); row += classes) {
    const auto [least, most] = std::minmax_element(row, row + classes);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += row[c];
    LADON_CHECK(*least >= 0 && *most <= 1 + 1e-6 && std::abs(sum - 1) <= 1e-3, operation, "row ",
                (row - values.begin()) / classes,
                " is not a probability distribution: its entries lie between ", *least, " and ",
                *most, " and sum to ", sum,
                "; they must lie in [0, 1] and sum to 1. For logits use softmax(logits)");
  }
}

}  // namespace ladon::metrics::detail
