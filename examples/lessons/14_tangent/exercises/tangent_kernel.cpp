// Exercise 1 of lesson 14 (★): the tangent kernel.
//
// A step of gradient descent on one example changes the output of another by the inner product of
// their gradients. Write the matrix of these products, Θ = J·Jᵀ, with row i of J the gradient of
// f(x_i) with respect to all parameters. Hint: slice(x, 0, {i, i + 1}) is input i as a batch of
// one. With p = model.named_parameters(), grad({output}, p.tensors()) gives the gradients, one
// tensor per parameter, and p.to_row(gradients) joins them to a row, f64.

#include "14_tangent/exercises/exercises.h"

using namespace ladon;

Tensor tangent_kernel(Layer& model, const Tensor& x) { lessons::to_do("J, row by row, and J·Jᵀ"); }
