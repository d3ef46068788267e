#pragma once
// What the page computes by itself, computed by the library.

#include <nlohmann/json.hpp>

#include "ladon/examples/particles/study.h"

namespace ladon::example {

/// Rows of the page's checks, of one target: scores, bandwidth and forces of eight particles, at
/// the start of a run and where it has drawn together: there the library bounds the repulsion.
/// `apart` is the distance of the two modes.
void add_checks(const TargetStudy& study, double apart, nlohmann::ordered_json& checks);

}  // namespace ladon::example
