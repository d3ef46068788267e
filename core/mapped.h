#pragma once
// Mapped tensors: one tensor per example of a batch, handled as a single tensor. vmap
// (autograd/extra/transforms/vmap.h) makes them; a function written for one example then computes
// all examples at once.
//
// Each call of vmap is a level (levels.h). A tensor has one entry per example of each level that it
// depends on: inside a call over B examples that runs a call over b, a tensor of the inner level
// has b entries, one of the outer level B, and one of both B·b, the inner level varying fastest. A
// level is identified by its call, also where a backward sweep meets tensors of a finished call.
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

/// While one is alive on this thread, functions of one example are computed for all examples of
/// these levels, the calls of vmap that are running. Without levels: for a single example.
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

/// Makes the first axis of x [examples, shape..] the hidden axis of a new level: a tensor of
/// `shape` that is mapped by this level too.
Tensor merge(const Tensor& x, const Level& level);
/// The inverse, for a tensor that is mapped by the level. A view if it has no other level.
Tensor divide(const Tensor& x, const Level& level);

/// [examples, shape..] as a mapped tensor of `shape`.
Tensor hide(const Tensor& x, Levels levels);
/// Exposes the examples of a mapped tensor as a leading axis, followed by axes of size 1 until one
/// example has `rank` axes: [examples, 1.., shape..]. Returns any other tensor, also an undefined
/// one, as it is.
Tensor show(const Tensor& x, int rank = 0);
/// Repeats a mapped tensor over the examples of further levels; returns any other as it is.
Tensor repeat(const Tensor& x, const Levels& levels);
/// As show(), with the examples of all these levels along the leading axis. A tensor that is not
/// mapped is expanded along it with stride 0.
Tensor spread(const Tensor& x, const Levels& levels, int rank = 0);

/// Union of the levels of all operands.
Levels levels(std::initializer_list<const Tensor*> operands);
Levels levels(const std::vector<Tensor>& operands);
template <class... Tensors>
bool any(const Tensors&... x) {
  return (x.mapped() || ...);
}

/// A destination for results of the operands: y, or y copied once per example if operands have
/// levels that y lacks.
Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands);

/// Index of an axis of one example after show() has put the examples before it.
inline int next(int axis) { return axis < 0 ? axis : axis + 1; }
std::vector<int> next(std::vector<int> axes);

/// f of operands that broadcast against each other, at least one of them mapped.
template <class F, class... Tensors>
Tensor broadcast(const F& f, const Tensors&... x) {
  Levels all = levels({&x...});
  const int rank = std::max({x.defined() ? x.rank() : 0 ...});
  const Tensor y = f(show(repeat(x, all), rank)...);
  return hide(y, std::move(all));
}

/// f of the operands, each with the examples as a leading axis.
template <class F, class... Tensors>
Tensor batched(const F& f, const Tensors&... x) {
  Levels all = levels({&x...});
  const Tensor y = f(spread(x, all)...);
  return hide(y, std::move(all));
}

/// The result of `draw`; inside a Scope, one result per example. Example i then draws from split(i)
/// of a split of `rng`, which advances by one block, and the draws run in parallel. Throws Error
/// naming `operation` for a shape that no tensor can have.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own)>& draw);
/// As above, for a distribution with a parameter: `draw` gets the parameter of its example.
Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const Tensor& parameter,
             const std::function<Tensor(Generator& own, const Tensor& parameter)>& draw);

/// Runs f once per example. Each result of f must be defined for all examples or for none.
using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f);

}  // namespace ladon::mapped
