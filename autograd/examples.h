#pragma once
// Differentiable conversions between the hidden example axis of a vmap (core/mapped.h) and an
// ordinary axis. The graph uses them to sum gradients over examples and to repeat them.

#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

/// map_examples() makes the first axis of x the hidden axis of the level; list_examples() is the
/// inverse, and repeats a tensor that the level does not map once per example. They are
/// mapped::merge and mapped::divide as operations that backward can differentiate.
Tensor map_examples(const Tensor& x, const mapped::Level& level);
Tensor list_examples(const Tensor& x, const mapped::Level& level);
/// Returns x mapped by all the `levels`: repeated over the examples of each level that it lacks.
Tensor repeat_examples(Tensor x, const mapped::Levels& levels);
/// Sums `gradient` over the examples of each of its levels that the tensor it belongs to does not
/// have; that tensor's levels are `input`. Levels of running vmaps are kept even so: each example
/// of such a level has a separate gradient.
Tensor sum_examples(Tensor gradient, const mapped::Levels& input);

}  // namespace ladon::detail
