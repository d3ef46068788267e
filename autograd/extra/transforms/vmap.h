#pragma once
// Vectorizing map: a function of one example, computed for a whole batch at once.
//
//   const auto squared_distance = [](const auto& x) { return sum(square(x[0] - x[1])); };
//   vmap(squared_distance, {a, b});                 // a, b [B, n] → [B]
//   vmap(squared_distance, {a, b}, {0, unmapped});  // b [n] is the same for all
//
// Inside, tensors have the shapes of one example. Operations that broadcast, reduce or multiply
// compute all examples in one call; convolution, pooling, recurrence and gradients of normalization
// loop over the examples inside the operation. What cannot be mapped throws Error: reading elements
// (item, to_vector, masked_select), or drawing a single number for all examples (rng.normal()).
// Random tensors differ between examples: those of the i-th come from split(i) of a split of the
// generator, whatever the number of examples, so that a loop over examples with the same splits
// draws the same numbers.

#include <functional>
#include <optional>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors with several results.
using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The axis of an input that counts examples; `unmapped`: all examples share the input.
using MappedAxis = std::optional<int>;
inline constexpr std::nullopt_t unmapped = std::nullopt;

/// f applied to each example: [B, shape..] for results of `shape`. `axes` has an entry per input;
/// by default axis 0 of every input counts examples. A result that depends on no example is
/// repeated. Gradients and tangents pass through vmap, and grad(), jvp() and vmap() may be called
/// inside: a vmap over b examples inside one over B computes B·b at once. A gradient taken inside f
/// is separate for each example; for a tensor outside, on which a mapped input depends, it is [B,
/// shape..] per example, with zeros except where that example is. f may receive a copy of an input,
/// so its in-place edits may not reach the input. For a tensor shared by all examples, a hook, or
/// the gradient of a CustomFunction, runs once, on the sum over examples. Throws Error if no input
/// is mapped, if numbers of examples differ, if f calls what cannot be mapped, and if a result
/// carries examples of another call.
Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& inputs,
            const std::vector<MappedAxis>& axes = {});
std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes = {});

/// The gradients of loss(example) with respect to `parameters`, separately for each example: each
/// [B, parameter shape..]. inputs [B, ..]; `loss` receives one example of each, without the leading
/// axis (unsqueeze it for layers that require a batch), and returns one number. Zeros where it does
/// not depend on a parameter. Their sum over the first axis is the gradient of the summed loss.
/// Uses: gradient noise, per-example clipping (Abadi et al. 2016), Fisher information, influence
/// functions.
///
/// The result is recorded, for derivatives through it; under NoGrad it is not, which is faster and
/// takes less memory. Throws Error for a parameter that requires no gradient (frozen, or a plain
/// tensor), and as vmap does.
std::vector<Tensor> per_example_gradients(const TensorFunction& loss,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& parameters);

}  // namespace ladon
