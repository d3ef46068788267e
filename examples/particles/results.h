#pragma once
// Results of the study, as tables and as JSON.

#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// A row for each method and, last, what independent draws would give; names of rows begin with
/// `before`.
Table table_of(const TargetStudy& study, const std::string& of, const std::string& before = "");

/// {"truth", "runs"}: each target's exact moments; of each run its target, method, seed and
/// figures, where particles ended, and of the course's target and the seed shown where they were at
/// every frame.
nlohmann::ordered_json details(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
