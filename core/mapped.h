#pragma once
// Mapped tensors: one tensor for each example of a batch, written as one. vmap (autograd/vmap.h)
// makes them; a function that was written for one example then computes all of them at once.
//
// Nested calls: if one vmap of b examples runs inside another of B, what the inner one maps has
// B·b: those of the first outer example come first. A tensor of the outer one has B examples inside
// as well, and where both meet each of them stands for b in turn.
//
// The examples stand along a hidden axis: shape(), rank() and count() are those of one example, and
// axes are counted as if there were no other. Kernels see to the hidden axis themselves: those that
// broadcast, or go along an axis, show it as one more leading axis and are called again; the others
// are called for one example after the other. What reads elements in any other way gets an Error.
//
//   Tensor unary(Unary op, const Tensor& x) {
//     if (x.mapped()) return mapped::broadcast([=](const Tensor& a) { return unary(op, a); }, x);

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {
class Generator;
}

namespace ladon::mapped {

/// While one is alive on this thread, a function of one example is being computed for so many, of
/// all vmaps that are running; −1: for itself.
struct Scope : private detail::Scoped<std::int64_t> {
  explicit Scope(std::int64_t examples) : Scoped(detail::modes.mapped_examples, examples) {}
};
/// The examples of the present scope; −1 outside of one.
inline std::int64_t running() { return detail::modes.mapped_examples; }
inline bool active() { return running() >= 0; }

/// The examples of a vmap, and of those that it runs inside (−1: inside of none).
struct Nest {
  std::int64_t outer, inner;
  std::int64_t all() const { return outer < 0 ? inner : outer * inner; }
};
/// x [inner, shape..], mapped by the outer ones or by none, as a tensor of `shape` for all
/// examples.
Tensor merge(const Tensor& x, const Nest& nest);
/// And back: a tensor of `shape` for all examples as [inner, shape..], mapped by the outer ones. A
/// view.
Tensor divide(const Tensor& x, const Nest& nest);

/// [examples, shape..] as a mapped tensor of `shape`.
Tensor hide(const Tensor& x);
/// The examples of a mapped tensor as a leading axis, with axes of size 1 after it up to `rank` of
/// one example: [examples, 1.., shape..]. Any other tensor, undefined ones included, as it is.
Tensor show(const Tensor& x, int rank = 0);
/// A tensor of fewer examples, each of them as often in turn as makes `examples`; any other as it
/// is.
Tensor repeat(const Tensor& x, std::int64_t examples);
/// As show, of so many examples; a tensor that is not mapped is the same for every one, with stride
/// 0.
Tensor spread(const Tensor& x, std::int64_t examples, int rank = 0);

/// The examples of the innermost vmap that one of the operands is mapped by; −1 if none is. Throws
/// Error for numbers that no vmap inside another makes.
std::int64_t examples(std::initializer_list<const Tensor*> operands);
std::int64_t examples(const std::vector<Tensor>& operands);
/// The same of two such numbers.
std::int64_t innermost(std::int64_t a, std::int64_t b);
template <class... Tensors>
bool any(const Tensors&... x) {
  return (x.mapped() || ...);
}

/// y, to be written to: a copy for each example where an operand is mapped, else itself.
Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands);

/// An axis of one example, once the examples are shown before it.
inline int next(int axis) { return axis < 0 ? axis : axis + 1; }
std::vector<int> next(std::vector<int> axes);

/// f of operands that broadcast against each other, of which one is mapped.
template <class F, class... Tensors>
Tensor broadcast(const F& f, const Tensors&... x) {
  const std::int64_t n = examples({&x...});
  const int rank = std::max({x.defined() ? x.rank() : 0 ...});
  return hide(f(show(repeat(x, n), rank)...));
}

/// f of operands that all have the examples as a leading axis.
template <class F, class... Tensors>
Tensor batched(const F& f, const Tensors&... x) {
  const std::int64_t n = examples({&x...});
  return hide(f(spread(x, n)...));
}

/// Numbers of one example as `draw` draws them, and in a scope such numbers for each example: for
/// the i-th of them from generator split(i) of a split of `rng`, which advances by one block.
Tensor drawn(const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own, std::int64_t example)>& draw);

/// f of each example's operands alone. All results of f are defined for every example or for none.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f);

}  // namespace ladon::mapped
