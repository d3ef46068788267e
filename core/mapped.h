#pragma once
// Mapped tensors: one tensor per example of a batch, handled as a single tensor. vmap
// (autograd/extra/transforms/vmap.h) makes them; a function written for one example then computes
// all examples at once.
//
// Each call of vmap is a level (levels.h). A tensor has one entry per example of each level that it
// depends on. If a vmap over B examples runs a nested vmap over b examples, a tensor that depends
// on the inner level alone has b entries, a tensor that depends on the outer level alone has B, and
// a tensor that depends on both has B·b entries, the inner level varying fastest. A level is
// identified by the number of its call, so a backward pass can use tensors of a finished call.
//
// The examples lie along a hidden leading axis: shape(), rank() and count() are those of one
// example, and axes are counted without it. Kernels handle the hidden axis themselves: those that
// broadcast or work along an axis expose it as an ordinary leading axis and call themselves again;
// the others run once per example. Any other access to the elements throws Error.
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

/// While a Scope is alive on this thread, functions written for one example compute all examples of
/// its levels, which are the running calls of vmap. Without levels they compute a single example.
class Scope {
 public:
  explicit Scope(Levels levels)
      : levels_(std::move(levels)), mode_(detail::modes.mapped_levels, &levels_) {}

 private:
  Levels levels_;
  detail::Scoped<const Levels*> mode_;
};
/// Levels of the youngest Scope on this thread; no levels outside of any Scope.
inline Levels running() {
  return detail::modes.mapped_levels ? *detail::modes.mapped_levels : Levels();
}
inline bool active() { return !running().none(); }

/// Makes the first axis of x [examples, shape..] the hidden axis of a new level: a tensor of
/// `shape` that is mapped by `level` in addition to the levels of x.
Tensor merge(const Tensor& x, const Level& level);
/// Inverse of merge(), for a tensor x that is mapped by `level`: makes the examples of the level
/// the first axis. Returns a view if x has no other level.
Tensor divide(const Tensor& x, const Level& level);

/// Returns x [examples, shape..] as a tensor of `shape` that is mapped by `levels`.
Tensor hide(const Tensor& x, Levels levels);
/// Exposes the examples of a mapped tensor as a leading axis, followed by axes of size 1 until one
/// example has `rank` axes: [examples, 1.., shape..]. Returns an unmapped or undefined tensor
/// unchanged.
Tensor show(const Tensor& x, int rank = 0);
/// Repeats a mapped tensor over the examples of each of `levels` that the tensor lacks. Returns an
/// unmapped tensor unchanged.
Tensor repeat(const Tensor& x, const Levels& levels);
/// Exposes the examples of all `levels` as a leading axis, as show() does. A tensor that is not
/// mapped is expanded along this axis with stride 0.
Tensor spread(const Tensor& x, const Levels& levels, int rank = 0);

/// Union of the levels of all operands.
Levels levels(std::initializer_list<const Tensor*> operands);
Levels levels(const std::vector<Tensor>& operands);
template <class... Tensors>
bool any(const Tensors&... x) {
  return (x.mapped() || ...);
}

/// Returns a tensor in which results computed from the operands can be stored: y itself, or one
/// copy of y per example if the operands have levels that y lacks.
Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands);

/// Converts the index of an axis of one example to its index after show(), which adds the examples
/// as axis 0. Negative indices count from the end and do not change.
inline int next(int axis) { return axis < 0 ? axis : axis + 1; }
std::vector<int> next(std::vector<int> axes);

/// Computes f of operands that broadcast against each other, at least one of which is mapped.
template <class F, class... Tensors>
Tensor broadcast(const F& f, const Tensors&... x) {
  Levels all = levels({&x...});
  const int rank = std::max({x.defined() ? x.rank() : 0 ...});
  const Tensor y = f(show(repeat(x, all), rank)...);
  return hide(y, std::move(all));
}

/// Computes f of the operands, giving f each operand with the examples as a leading axis.
template <class F, class... Tensors>
Tensor batched(const F& f, const Tensors&... x) {
  Levels all = levels({&x...});
  const Tensor y = f(spread(x, all)...);
  return hide(y, std::move(all));
}

/// Returns draw(rng), or, inside a Scope, one draw per example. In a Scope, `rng` advances by one
/// block and is split once, example i draws from split(i) of the generator that results, and the
/// draws run in parallel. Throws Error naming `operation` for a shape that no tensor can have.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own)>& draw);
/// drawn() for a distribution with a parameter, which may be mapped: there is one draw for each of
/// its examples too, and `draw` is called with the parameter of its example.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const Tensor& parameter,
             const std::function<Tensor(Generator& own, const Tensor& parameter)>& draw);

/// Runs f once per example. Each result of f must be defined for all examples or for none.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f);

}  // namespace ladon::mapped
