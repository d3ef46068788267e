#pragma once
// Results of the study, as tables and JSON.

#include "ladon/examples/common/report.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {

/// The mean of a figure over data sets.
Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure);

/// A row for each number of heads: its posterior beside the limit's.
Table approach_table(const Study& study);
/// A row for each method, number of heads and length of run, held against the truth at so many
/// heads, or against the Gaussian process.
Table method_table(const Settings& settings, const std::vector<MethodRuns>& rows, bool against_gp);
/// The columns that are printed; the rest is in the JSON alone.
constexpr std::size_t approach_columns_printed = 6, method_columns_printed = 7;
/// A line for each row of an interrupted run that is a mean over fewer data sets than were asked
/// for.
std::string incomplete(const Settings& settings, const Study& study);
/// The bands of the picture.
nlohmann::ordered_json bands_json(const Study& study);

}  // namespace ladon::example
