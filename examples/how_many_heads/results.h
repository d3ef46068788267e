// Tables and pictures of the study.

#pragma once

#include "ladon/examples/common/report.h"
#include "ladon/examples/how_many_heads/study.h"

namespace ladon::example {

Table error_table(const Settings& settings, const Study& study);
/// Table of contrasts of the log error. Bend: its fall from 2 to 4 heads minus its fall from 4 to 8
/// (the task has 4 retrievals). Lack: log error of one wide head minus that of 4 heads of width 8.
/// Growth: lack at the largest number of tokens T minus lack at the smallest.
Table contrast_table(const Settings& settings, const Study& study);
Table evidence_table(const Settings& settings, const Study& study);

void draw_errors(const Settings& settings, const Study& study);
void draw_evidence(const Settings& settings, const Study& study);

}  // namespace ladon::example
