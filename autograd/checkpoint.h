#pragma once
// Gradient checkpointing: saves memory by running a function again during the backward pass.

#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Returns f(inputs) without keeping the intermediate results of f: the backward pass runs f a
/// second time to compute them again (Chen et al. 2016). Parameters that f captures get their
/// gradients too, and hooks are called as usual (except that a backward pass for second derivatives
/// calls a hook inside f once per run of f, each time with a part of the gradient).
///
/// The second run gets the same random numbers as the first, including those of dropout layers,
/// leaves the generators unchanged, and uses the modes RowwiseProducts and ComposedForms of the
/// first. Apart from that f must do the same in both runs: the backward pass throws Error if a
/// tensor that the first run used was edited since (an input, a parameter that another optimizer
/// has updated, a constant), or if the second run of f draws other random numbers (for example
/// because the model was switched to eval()), depends on more or fewer trained tensors (for example
/// because the functional_call that put them into a model has ended), or returns an output that
/// differs in any bit. (Parameters may be frozen or unfrozen between the runs. Fast and composed
/// forms (forms.h) may then replace each other, so the outputs may differ by rounding.)
Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs);

}  // namespace ladon
