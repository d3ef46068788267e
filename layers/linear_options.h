#pragma once
// Check of the options of a linear map, common to Linear and convolutions.

#include "ladon/layers/linear.h"

namespace ladon::detail {

/// Throws Error naming `layer` if an option is set that the parameterization does not read:
/// weight_std and bias_std in standard parameterization; init (whose default is `usual`) and gain
/// in ntk parameterization, and bias_std if there is no bias.
void check_read(const char* layer, const LinearOptions& options, Init usual);

}  // namespace ladon::detail
