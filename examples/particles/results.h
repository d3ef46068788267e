#pragma once
// What the study says, as tables and as JSON.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ladon/examples/common/report.h"
#include "ladon/examples/particles/collapse.h"
#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// A row for each method and, last, what independent draws would give. Rows are named by method,
/// with the target before it where `with_target`.
Table table_of(const TargetStudy& study, bool with_target);
/// A row for each dimension.
Table collapse_table(const Settings& settings, const std::vector<Remaining>& all);

/// {"truth", "runs"}: each target's exact moments; of each run its target, method, seed and
/// figures, where particles ended, and of the course's target and the seed shown where they were at
/// every frame.
nlohmann::ordered_json details(const Settings& settings, const std::vector<TargetStudy>& studies);

}  // namespace ladon::example
