// Tables and pictures of the study.

#pragma once

#include "ladon/examples/common/report.h"
#include "ladon/examples/how_many_heads/study.h"

namespace ladon::example {

Table error_table(const Settings& settings, const Study& study);
/// Table of the bend of the error at D = 4 heads, the gap between one wide head and 4 heads, and
/// the growth of this gap with the number of tokens T.
Table contrast_table(const Settings& settings, const Study& study);
Table evidence_table(const Settings& settings, const Study& study);

void draw_errors(const Settings& settings, const Study& study);
void draw_evidence(const Settings& settings, const Study& study);

}  // namespace ladon::example
