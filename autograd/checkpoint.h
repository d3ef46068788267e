#pragma once
// Checkpoints of computation: memory saved by running a function a second time in backward.

#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// f(inputs), without keeping its intermediate results: backward runs f again (Chen et al. 2016).
/// Parameters that f captures get their gradients too, and hooks are called as usual (except that a
/// sweep for second derivatives calls a hook inside f once per run, each time with a part of the
/// gradient). Random numbers of f, including those of dropout layers, are drawn again in the second
/// run, which leaves the generators unchanged. Apart from that f must do the same in both runs.
/// Backward throws Error if a tensor that the first run used was edited since (an input, a
/// parameter that another optimizer has updated, a constant), or if in the second run f draws
/// differently (because the model was switched to eval(), say), depends on more or fewer trained
/// tensors (because the functional_call that put them into a model has ended), or gives an output
/// that differs in any bit. The modes RowwiseProducts and ComposedForms are those of the first run.
/// (Parameters may be frozen or unfrozen in between; other forms may then compute the output, which
/// may differ by rounding.)
Tensor checkpoint(const TensorFunction& f, const std::vector<Tensor>& inputs);

}  // namespace ladon
