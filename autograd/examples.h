#pragma once
// Differentiable conversions between the hidden example axis of a vmap (core/mapped.h) and an
// ordinary axis. The graph uses them to sum gradients over examples and to repeat them.

#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

/// map_examples() makes the first axis of x the hidden axis of the vmap `level`; list_examples() is
/// the inverse. Of a tensor without that hidden axis, list_examples() returns one copy per example.
/// They are mapped::merge and mapped::divide as operations that backward can differentiate.
Tensor map_examples(const Tensor& x, const mapped::Level& level);
Tensor list_examples(const Tensor& x, const mapped::Level& level);
/// Returns x mapped by all the `levels`: repeated over the examples of each level that it lacks.
Tensor repeat_examples(Tensor x, const mapped::Levels& levels);
/// Sums the gradient of a tensor over the examples of every vmap level that `gradient` has but the
/// tensor lacks; `input` are the levels of the tensor. The levels of running vmaps are kept in any
/// case, because each example of a running vmap has a separate gradient.
Tensor sum_examples(Tensor gradient, const mapped::Levels& input);

}  // namespace ladon::detail
