#pragma once
// Vectorizing map: a function of one example, computed for a whole batch at once.
//
//   const auto squared_distance = [](const auto& x) { return sum(square(x[0] - x[1])); };
//   vmap(squared_distance, {a, b});                 // a, b [B, n] → [B]
//   vmap(squared_distance, {a, b}, {0, unmapped});  // b [n] is the same for all
//
// Inside the function, tensors have the shapes of one example. Operations that broadcast, reduce or
// multiply compute all examples in one call; convolution, pooling, recurrence and gradients of
// normalization loop over the examples inside the operation. Calls that cannot be mapped throw
// Error: reading elements (item, to_vector, masked_select), or drawing a single number for all
// examples (rng.normal()). Random tensors differ between examples: those of example i are drawn
// from split(i) of a split of the generator, whatever the number of examples, so that a loop over
// examples with the same splits draws the same numbers.

#include <functional>
#include <optional>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors with several results.
using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The axis of an input along which its examples are stacked, or `unmapped` if all examples share
/// the input.
using MappedAxis = std::optional<int>;
inline constexpr std::nullopt_t unmapped = std::nullopt;

/// Applies f to each of B examples, and stacks the results: [B, shape..] for results of `shape`.
/// `axes` has an entry per input; by default axis 0 of every input is the axis of examples. A
/// result that does not depend on the example is repeated. Throws Error if no input is mapped, if
/// inputs differ in their number of examples, if f makes a call that cannot be mapped, and if a
/// result holds examples of another call of vmap.
///
/// Gradients and tangents pass through vmap, and grad(), jvp() and vmap() may be called in f: a
/// vmap over b examples inside a vmap over B examples computes B·b at once. A gradient taken inside
/// f is separate for each example. With respect to a tensor outside of vmap on which a mapped input
/// depends, the gradient of each example has the shape of the whole tensor, with zeros in the
/// slices of the other examples. For a tensor shared by all examples, a hook, or the gradient of a
/// CustomFunction, runs once, on the sum over examples. f may receive a copy of an input, so its
/// in-place edits may not reach the input.
Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& inputs,
            const std::vector<MappedAxis>& axes = {});
std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes = {});

/// The gradients of the loss of each example with respect to each of the `parameters`, one tensor
/// [B, parameter shape..] per parameter. Inputs are [B, ..]; `loss` receives one example of each
/// input, without the leading axis (unsqueeze it for layers that require a batch), and returns one
/// number. The gradient is zero if the loss does not depend on a parameter. The sum of a result
/// over its first axis is the gradient of the summed loss. Uses: gradient noise, per-example
/// clipping (Abadi et al. 2016), Fisher information, influence functions.
///
/// The results are recorded, so that derivatives can be taken of them; under NoGrad they are not,
/// which is faster and takes less memory. Throws Error for a parameter that requires no gradient
/// (frozen, or without history), and whenever vmap() does.
std::vector<Tensor> per_example_gradients(const TensorFunction& loss,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& parameters);

}  // namespace ladon
