#pragma once
// Checked conversion of tensors to plain numbers: throws where a derivative would be lost. Library
// code reads elements only through these functions.
//
// A result that is computed from plain numbers has no derivative, and `x.item()` does not warn of
// it: code that reads a parameter by item() gives a correct value, but its gradient with respect to
// the parameter is zero. These functions throw instead. Where no derivative is intended, because
// the numbers choose a step size, test convergence or are printed, the caller detaches explicitly:
// number_of("solve", residual.detach()). Programs that use the library may call item() freely.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Throws Error if reading x as numbers would lose a derivative: if x requires a gradient and
/// recording is on (grad_enabled()), or if x is a dual number of a running jvp. Also throws if x
/// holds the examples of a vmap, which have different values. The message names `operation`, and
/// calls x `what`.
void check_plain(const char* operation, const Tensor& x, std::string_view what = "a tensor");

/// Whether x passes check_plain(): reading its elements as numbers loses no gradient, no tangent
/// and no examples of a vmap.
bool is_plain(const Tensor& x);

/// x.item() and x.to_vector(), after check_plain().
double number_of(const char* operation, const Tensor& x);
std::vector<double> numbers_of(const char* operation, const Tensor& x);

}  // namespace ladon
