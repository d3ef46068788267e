#pragma once
// Checks of every optimizer: of the tensors that it is to change, and of its settings.

#include "ladon/layers/parameter_set.h"

namespace ladon::detail {

/// Throws Error if there is no parameter, one is not a contiguous leaf that requires a gradient, or
/// one comes twice.
void check_parameters(const ParameterSet& parameters);

/// The gradient of ⟨cotangent, value⟩ (undefined: 1) by a set as a row, f64 [set.count()]: zeros
/// for what is frozen or not used.
Tensor gradient_row(const Tensor& value, const ParameterSet& set, const Tensor& cotangent = {});

/// Throw Error of the operation unless the value of that name is finite and at least 0, or in [0,
/// 1).
void check_not_negative(const char* operation, const char* name, double value);
void check_fraction(const char* operation, const char* name, double value);

}  // namespace ladon::detail
