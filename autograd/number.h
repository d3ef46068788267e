#pragma once
// Checked conversion of tensors to plain numbers: throws where a derivative would be lost. Library
// code reads elements only through these functions.
//
// What is computed from plain numbers has no derivative, and `x.item()` does not warn of it: code
// that reads a parameter in this way gives a correct value, whose gradient with respect to the
// parameter is zero. These functions throw instead. Where the loss is intended, because the numbers
// choose a step size, test convergence or are printed, the caller detaches explicitly:
// number_of("solve", residual.detach()). Programs that use the library may call item() freely.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Throws Error naming `operation` where reading x as numbers would lose a derivative: x requires a
/// gradient and gradients are on, or x is a dual number of a running jvp; also where x holds the
/// examples of a vmap, which are not a single number.
void check_plain(const char* operation, const Tensor& x);

/// Whether x passes check_plain(): it requires no gradient, has no tangent and holds no examples of
/// a vmap, so that reading it as a number loses none of them.
bool is_plain(const Tensor& x);

/// x.item() and x.to_vector(), after check_plain().
double number_of(const char* operation, const Tensor& x);
std::vector<double> numbers_of(const char* operation, const Tensor& x);

}  // namespace ladon
