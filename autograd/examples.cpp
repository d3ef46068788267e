#include "ladon/autograd/examples.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/autograd/tangent.h"

namespace ladon::detail {
namespace {

/// Places the gradient of each example into a gradient of the whole batch: [examples, shape..],
/// mapped by the level; for each example it is 0 except in the slice of that example.
Tensor at_own_place(const Tensor& gradient, const mapped::Level& level) {
  Shape place = Shape::filled(gradient.rank() + 1, 1);
  place[0] = level.examples;
  const Tensor own = map_examples(eye(level.examples, gradient.dtype()), level);
  return reshape(own, place) * unsqueeze(gradient, 0);
}

/// x repeated for each example of the level: [examples, shape..].
Tensor copies(const Tensor& x, const mapped::Level& level) {
  Shape shape = x.shape();
  shape.insert(0, level.examples);
  return expand(unsqueeze(x, 0), shape);
}

}  // namespace

// While the vmap runs, the gradient of x is taken separately for each example, and is 0 outside the
// slice of that example; after the vmap, the gradients of the examples are stacked.
Tensor map_examples(const Tensor& x, const mapped::Level& level) {
  const auto gradient = [level](const Tensor& g) {
    return mapped::running().contains(level) ? at_own_place(g, level) : list_examples(g, level);
  };
  return record(
      "vmap", mapped::merge(x.detach(), level), {x},
      with_forward(gradient, [level](const Tensor& t) { return map_examples(t, level); }));
}

Tensor list_examples(const Tensor& x, const mapped::Level& level) {
  if (x.levels().contains(level))
    return record("vmap", mapped::divide(x.detach(), level), {x},
                  with_forward([level](const Tensor& g) { return map_examples(g, level); },
                               [level](const Tensor& t) { return list_examples(t, level); }));
  if (!levels_of(x).contains(level)) return copies(x, level);
  const Tensor nothing = map_examples(copies(zeros_like(x), level), level);
  return list_examples(x + nothing, level);  // x is not mapped by the level, but its tangent is
}

Tensor repeat_examples(Tensor x, const mapped::Levels& levels) {
  for (const mapped::Level& level : levels)
    if (!x.levels().contains(level)) x = map_examples(copies(x, level), level);
  return x;
}

Tensor sum_examples(Tensor gradient, const mapped::Levels& input) {
  const mapped::Levels all = levels_of(gradient), kept = input.with(mapped::running());
  for (const mapped::Level& level : all)
    if (!kept.contains(level)) gradient = sum(list_examples(gradient, level), 0);
  return gradient;
}

}  // namespace ladon::detail
