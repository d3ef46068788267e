#pragma once
// Reading a tensor's elements as plain numbers, checked: throws where a derivative would be lost.
// Library code uses nothing else.
//
// What is computed from plain numbers has no derivative. `x.item()` says nothing of that: code that
// reads a parameter so gives a result that is right, and whose gradient by the parameter is zero.
// These functions throw instead where a derivative would be lost. Where it is meant to be, because
// the numbers choose a step, test a convergence or stand in a text, the caller says so:
// number_of("solve", residual.detach()). Programs that use the library may call item() as they
// like.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Throws Error, [operation], where a number in x's place would lose a derivative: x requires a
/// gradient and gradients are on, or x is a dual number of a jvp that runs; or where it holds the
/// examples of a vmap, which are no single number.
void check_plain(const char* operation, const Tensor& x);

/// Whether x passes check_plain(): it requires no gradient, has no tangent and holds no examples of
/// a vmap, so that reading it as a number loses none of them.
bool is_plain(const Tensor& x);

/// x.item() and x.to_vector() of a tensor that check_plain() passes.
double number_of(const char* operation, const Tensor& x);
std::vector<double> numbers_of(const char* operation, const Tensor& x);

}  // namespace ladon
