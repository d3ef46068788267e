#pragma once
// Recorded moves of the hidden axes of vmap (core/mapped.h), by which the graph sums and repeats
// gradients over examples.

#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Recorded forms of mapped::merge (map_examples) and mapped::divide (list_examples). list_examples
/// repeats a tensor that the level does not map, once per example.
Tensor map_examples(const Tensor& x, const mapped::Level& level);
Tensor list_examples(const Tensor& x, const mapped::Level& level);
/// x with the examples of these levels added, repeated.
Tensor repeat_examples(Tensor x, const mapped::Levels& levels);
/// The gradient of an input whose levels are `input`, from one that may have more: summed over the
/// examples of the other levels, except those of running vmaps, where each example has a separate
/// gradient.
Tensor sum_examples(Tensor gradient, const mapped::Levels& input);

}  // namespace ladon::detail
