#pragma once
// Mapped tensors: one tensor for each example of a batch, written as one. vmap
// (autograd/transforms/vmap.h) makes them; a function that was written for one example then
// computes all of them at once.
//
// Each call of vmap is a level (levels.h). A tensor has an example for each of every level that it
// depends on: inside a call of B examples that runs one of b, a tensor of the inner level has b,
// one of the outer level B, and where both meet B·b, those of the first outer example first. Levels
// are told apart by their calls, also where a sweep meets tensors of a call that has ended.
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
#include <string_view>
#include <utility>
#include <vector>

#include "ladon/core/levels.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {
class Generator;
}

namespace ladon::mapped {

/// While one is alive on this thread, a function of one example is being computed for those of
/// these levels, the vmaps that are running; none: for itself.
class Scope {
 public:
  explicit Scope(Levels levels)
      : levels_(std::move(levels)), mode_(detail::modes.mapped_levels, &levels_) {}

 private:
  Levels levels_;
  detail::Scoped<const Levels*> mode_;
};
/// The levels of the present scope.
inline Levels running() {
  return detail::modes.mapped_levels ? *detail::modes.mapped_levels : Levels();
}
inline bool active() { return !running().none(); }

/// x [examples, shape..], the first axis of which is that of a new level, as a tensor of `shape`
/// mapped by it too.
Tensor merge(const Tensor& x, const Level& level);
/// And back, of a tensor that is mapped by the level. A view where it is the only one.
Tensor divide(const Tensor& x, const Level& level);

/// [examples, shape..] as a mapped tensor of `shape`.
Tensor hide(const Tensor& x, Levels levels);
/// The examples of a mapped tensor as a leading axis, with axes of size 1 after it up to `rank` of
/// one example: [examples, 1.., shape..]. Any other tensor, undefined ones included, as it is.
Tensor show(const Tensor& x, int rank = 0);
/// A mapped tensor for the examples of more levels; any other as it is.
Tensor repeat(const Tensor& x, const Levels& levels);
/// Examples of all these levels along a leading axis, as by show(). A tensor that is not mapped is
/// expanded along it with stride 0.
Tensor spread(const Tensor& x, const Levels& levels, int rank = 0);

/// The levels that an operand is mapped by.
Levels levels(std::initializer_list<const Tensor*> operands);
Levels levels(const std::vector<Tensor>& operands);
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
  Levels all = levels({&x...});
  const int rank = std::max({x.defined() ? x.rank() : 0 ...});
  const Tensor y = f(show(repeat(x, all), rank)...);
  return hide(y, std::move(all));
}

/// f of operands that all have the examples as a leading axis.
template <class F, class... Tensors>
Tensor batched(const F& f, const Tensors&... x) {
  Levels all = levels({&x...});
  const Tensor y = f(spread(x, all)...);
  return hide(y, std::move(all));
}

/// Numbers of one example as `draw` draws them, and in a scope such numbers for each example: for
/// the i-th of them from generator split(i) of a split of `rng`, which advances by one block.
/// Draws of examples run beside each other. Throws Error naming `operation` for a shape that no
/// tensor has.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own)>& draw);
/// Numbers of each example from a law with a parameter; `draw` gets the parameter of its example.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const Tensor& parameter,
             const std::function<Tensor(Generator& own, const Tensor& parameter)>& draw);

/// f of each example's operands alone. All results of f are defined for every example or for none.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f);

}  // namespace ladon::mapped
