#pragma once
// Functions of one example, computed for a batch at once.
//
//   const auto squared_distance = [](const auto& x) { return sum(square(x[0] - x[1])); };
//   vmap(squared_distance, {a, b});                 // a, b [B, n] → [B]
//   vmap(squared_distance, {a, b}, {0, unmapped});  // b [n] is the same for all
//
// Inside, tensors have the shapes of one example. Operations that broadcast, reduce or multiply do
// all examples in one call; convolution, pooling, recurrence and gradients of normalization go from
// one example to the next inside the operation. An Error tells what cannot be mapped: what reads
// elements (item, to_vector, masked_select), or draws a single number for all of them
// (rng.normal()). Tensors of random numbers are each example's own: those of the i-th come from
// split(i) of a split of the generator, whatever the number of examples, so that the same loop over
// examples draws the same.

#include <functional>
#include <optional>
#include <vector>

#include "ladon/autograd/transforms/functional.h"
#include "ladon/core/mapped.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// A function of tensors with several results.
using TensorsFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// The axis along which an input's examples stand; `unmapped`: it is the same for all.
using MappedAxis = std::optional<int>;
inline constexpr std::nullopt_t unmapped = std::nullopt;

/// f of each example, [B, shape..] of results of `shape`. `axes` has an entry for each input; by
/// default all examples stand along axis 0. A result that depends on no example is repeated.
/// Gradients flow through it, tangents too, and grad(), jvp() and vmap() may be taken inside: a
/// vmap of b examples in one of B computes B·b at once. A gradient inside f is each example's own,
/// also through a mapped input to what that depends on: [B, shape..] for each, all but one of them
/// 0. An argument may be a copy of its input, which f's edits in place then do not reach. A hook,
/// or a gradient of a CustomFunction, of what is the same for all examples runs once, on the sum of
/// theirs. Throws Error if no input is mapped, if numbers of examples differ, for what f cannot do,
/// and for a result that holds examples of another call.
Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& inputs,
            const std::vector<MappedAxis>& axes = {});
std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes = {});

/// The gradients of loss(example) by `parameters`, for each example alone: [B, parameter shape..]
/// each. inputs [B, ..]; `loss` gets one example of each, without the leading axis (unsqueeze it
/// for layers that want a batch), and gives one number. Zeros where it does not depend on a
/// parameter. Their sum over the first axis is the gradient of the summed loss. With these:
/// gradient noise, clipping by example (Abadi et al. 2016), Fisher information, influence.
///
/// The result is recorded, for derivatives through it; under NoGrad, which is faster and keeps
/// less, it is not. Throws Error for a parameter that requires no gradient (frozen, or a plain
/// tensor), and as vmap does.
std::vector<Tensor> per_example_gradients(const TensorFunction& loss,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& parameters);

namespace detail {

/// Recorded forms of mapped::merge (map_examples) and mapped::divide (list_examples). A tensor that
/// the level does not map is repeated by list_examples, once per example.
Tensor map_examples(const Tensor& x, const mapped::Level& level);
Tensor list_examples(const Tensor& x, const mapped::Level& level);
/// x, for each example of these levels too.
Tensor repeat_examples(Tensor x, const mapped::Levels& levels);
/// The gradient of an input from one that may have more levels: the sum over their examples, but
/// for those of vmaps that run now, each of which has a gradient of its own.
Tensor sum_examples(Tensor gradient, const mapped::Levels& input);

}  // namespace detail

}  // namespace ladon
