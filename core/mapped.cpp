#include "ladon/core/mapped.h"

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/view.h"

namespace ladon::mapped {

Tensor hide(const Tensor& x, Levels levels) {
  if (!x.defined()) return x;
  detail::require(!x.mapped() && x.rank() > 0 && x.shape()[0] == levels.examples(),
                  "examples lie along a leading axis");
  return Tensor::over_examples(x, std::move(levels));
}

Tensor show(const Tensor& x, int rank) {
  if (!x.mapped()) return x;
  Tensor y = x.with_examples();
  while (y.rank() <= rank) y = view::unsqueeze(y, 1);
  return y;
}

namespace {

/// x with its first `replaced` axes reshaped to the axes `first`; a view if possible.
Tensor leading(const Tensor& x, const Shape& first, int replaced) {
  Shape shape = first;
  for (int axis = replaced; axis < x.rank(); ++axis) shape.append(x.shape()[axis]);
  const Tensor y = view::try_reshape(x, shape);
  return y.defined() ? y : view::try_reshape(kernels::clone(x), shape);
}

/// Number of examples of all levels outside `level`, and of all levels inside it.
std::pair<std::int64_t, std::int64_t> around(const Levels& levels, const Level& level) {
  const Level* at = levels.place(level);
  const bool has = levels.contains(level);
  return {Levels::count(levels.begin(), at), Levels::count(has ? at + 1 : at, levels.end())};
}

/// x with axis `from` moved to `to`.
Tensor moved(const Tensor& x, int from, int to) {
  std::vector<int> order;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != from) order.push_back(axis);
  order.insert(order.begin() + to, from);
  return view::permute(x, order);
}

}  // namespace

Tensor merge(const Tensor& x, const Level& level) {
  detail::require(!x.levels().contains(level), "a tensor is mapped by a level at most once");
  const Levels all = x.levels().with(Levels({level}));
  if (!x.mapped()) return hide(x, all);
  const auto [outer, inner] = around(x.levels(), level);
  if (inner == 1) return hide(leading(show(x), {all.examples()}, 2), all);
  const Tensor apart = leading(show(x), {outer, inner}, 1);  // [outer, inner, examples, shape..]
  return hide(leading(moved(apart, 2, 1), {all.examples()}, 3), all);
}

Tensor divide(const Tensor& x, const Level& level) {
  const Levels others = x.levels().without(level);
  if (others.none()) return show(x);
  const auto [outer, inner] = around(x.levels(), level);
  if (inner == 1) return hide(leading(show(x), {outer, level.examples}, 1), others);
  const Tensor apart = leading(show(x), {outer, level.examples, inner}, 1);
  return hide(leading(moved(apart, 1, 2), {others.examples()}, 2), others);
}

Tensor repeat(const Tensor& x, const Levels& levels) {
  if (!x.mapped() || x.levels() == levels) return x;
  Shape own, all;  // one axis per run of consecutive levels that x has, or that x lacks
  bool had = false;
  for (const Level& level : levels) {
    const bool has = x.levels().contains(level);
    if (own.rank() == 0 || has != had) {
      own.append(1);
      all.append(1);
    }
    const int last = own.rank() - 1;
    if (has) own[last] *= level.examples;
    all[last] *= level.examples;
    had = has;
  }
  const Tensor apart = leading(show(x), own, 1);
  Shape shape = all;
  for (const std::int64_t size : x.shape()) shape.append(size);
  return hide(leading(view::expand(apart, shape), {levels.examples()}, all.rank()), levels);
}

Tensor spread(const Tensor& x, const Levels& levels, int rank) {
  if (!x.defined() || x.mapped()) return show(repeat(x, levels), rank);
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  shape.insert(0, levels.examples());
  return view::expand(x, shape);
}

Levels levels(std::initializer_list<const Tensor*> operands) {
  Levels all;
  for (const Tensor* x : operands)
    if (!all.contains(x->levels())) all = all.with(x->levels());
  return all;
}

Levels levels(const std::vector<Tensor>& operands) {
  Levels all;
  for (const Tensor& x : operands)
    if (!all.contains(x.levels())) all = all.with(x.levels());
  return all;
}

Tensor room(const Tensor& y, std::initializer_list<const Tensor*> operands) {
  const Levels all = levels(operands).with(y.levels());
  return all == y.levels() ? y : hide(kernels::clone(spread(y, all)), all);
}

std::vector<int> next(std::vector<int> axes) {
  for (int& axis : axes) axis = next(axis);
  return axes;
}

Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const std::function<Tensor(Generator& own)>& draw) {
  return drawn(operation, shape, dtype, rng, Tensor(),
               [&](Generator& own, const Tensor&) { return draw(own); });
}

Tensor drawn(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
             const Tensor& parameter,
             const std::function<Tensor(Generator& own, const Tensor& parameter)>& draw) {
  const Levels all = running().with(parameter.levels());
  if (all.none()) return draw(rng, parameter);
  const Scope outside{Levels()};
  const Generator source = rng.split(rng.reserve(1));
  // A DrawTape of this thread records reserve(1), but not the draws of the examples.
  const detail::Bracket unwatched(detail::modes.watchers, {});
  Shape of_all = shape;
  of_all.insert(0, all.examples());
  detail::checked_count(operation, of_all);
  const Tensor numbers = empty(of_all, dtype), parameters = spread(parameter, all);
  const std::int64_t grain = 1 + 4096 / (1 + shape.count());
  parallel::for_range(all.examples(), grain, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      Generator own = source.split(static_cast<std::uint64_t>(i));
      const Tensor one = parameter.defined() ? view::select(parameters, 0, i) : parameter;
      kernels::copy(view::select(numbers, 0, i), draw(own, one));
    }
  });
  return hide(numbers, all);
}

std::vector<Tensor> each(const std::vector<Tensor>& operands, const Function& f) {
  const Levels examples = levels(operands);
  const std::int64_t n = examples.examples();
  std::vector<Tensor> all, results;
  for (const Tensor& x : operands) all.push_back(spread(x, examples));
  const auto of_example = [&](std::int64_t i) {
    std::vector<Tensor> one;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k].defined())
        one.emplace_back();
      else  // if there are no examples, f runs once on zeros, which gives the shapes of its results
        one.push_back(n > 0 ? view::select(all[k], 0, i)
                            : zeros(operands[k].shape(), operands[k].dtype()));
    }
    return f(one);
  };
  for (std::int64_t i = 0; i < std::max<std::int64_t>(n, 1); ++i) {
    const std::vector<Tensor> parts = of_example(i);
    if (i == 0)
      for (const Tensor& part : parts) {
        Shape shape = part.defined() ? part.shape() : Shape();
        shape.insert(0, n);
        results.push_back(part.defined() ? empty(shape, part.dtype()) : part);
      }
    for (std::size_t k = 0; n > 0 && k < parts.size(); ++k)
      if (parts[k].defined()) kernels::copy(view::select(results[k], 0, i), parts[k]);
  }
  for (Tensor& result : results) result = hide(result, examples);
  return results;
}

}  // namespace ladon::mapped
