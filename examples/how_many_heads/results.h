// Tables and pictures of the study.

#pragma once

#include "ladon/examples/common/report.h"
#include "ladon/examples/how_many_heads/study.h"

namespace ladon::example {

Table error_table(const Settings& settings, const Study& study);
/// The bend at D heads, the gap of one wide head, and whether that gap grows with T.
Table contrast_table(const Settings& settings, const Study& study);
Table evidence_table(const Settings& settings, const Study& study);

void draw_errors(const Settings& settings, const Study& study);
void draw_evidence(const Settings& settings, const Study& study);

}  // namespace ladon::example
