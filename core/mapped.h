#pragma once
// Mapped tensors: one tensor for each example of a batch, written as one. vmap (autograd/vmap.h) makes
// them; a function that was written for one example then computes all of them at once.
//
// The examples stand along a hidden axis: shape(), rank() and count() are those of one example, and axes
// are counted as if there were no other. Kernels see to the hidden axis themselves: those that
// broadcast, or go along an axis, show it as one more leading axis and are called again; the others are
// called for one example after the other. What reads elements in any other way gets an Error.
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

namespace ladon::mapped {

/// While one is alive on this thread, a function of one example is being computed for all.
struct Scope : private detail::Scoped<bool> {
  Scope() : Scoped(detail::modes.mapping, true) {}
};
inline bool active() { return detail::modes.mapping; }

/// [examples, shape..] as a mapped tensor of `shape`.
Tensor hide(const Tensor& x);
/// The examples of a mapped tensor as a leading axis, with axes of size 1 after it up to `rank` of one
/// example: [examples, 1.., shape..]. Any other tensor, undefined ones included, as it is.
Tensor show(const Tensor& x, int rank = 0);
/// As show; and a tensor that is not mapped is the same for every example, with stride 0.
Tensor spread(const Tensor& x, std::int64_t examples, int rank = 0);

/// How many examples the operands have; −1 if none is mapped. Throws Error where two differ.
std::int64_t examples(std::initializer_list<const Tensor*> operands);
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
  examples({&x...});
  const int rank = std::max({x.defined() ? x.rank() : 0 ...});
  return hide(f(show(x, rank)...));
}

/// f of operands that all have the examples as a leading axis.
template <class F, class... Tensors>
Tensor batched(const F& f, const Tensors&... x) {
  const std::int64_t n = examples({&x...});
  return hide(f(spread(x, n)...));
}

/// f of each example's operands alone. All results of f are defined for every example or for none.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f);

}  // namespace ladon::mapped
