#pragma once
// Differentiable conversions between the hidden example axis of a vmap (core/mapped.h) and an
// ordinary axis. The graph uses them to sum gradients over examples and to repeat them.

#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

/// mapped::merge (map_examples: the first axis of x becomes the hidden axis of the level) and its
/// inverse mapped::divide (list_examples), recorded for backward. A tensor that is not mapped by
/// the level is repeated by list_examples, once per example.
Tensor map_examples(const Tensor& x, const mapped::Level& level);
Tensor list_examples(const Tensor& x, const mapped::Level& level);
/// x mapped by all these levels: repeated over the examples of each level that it lacks.
Tensor repeat_examples(Tensor x, const mapped::Levels& levels);
/// `gradient` summed over the examples of all levels that are not in `input`, the levels of the
/// tensor that the gradient belongs to. Levels of running vmaps are not summed: there each example
/// has a separate gradient.
Tensor sum_examples(Tensor gradient, const mapped::Levels& input);

}  // namespace ladon::detail
