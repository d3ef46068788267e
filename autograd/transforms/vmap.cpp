#include "ladon/autograd/transforms/vmap.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/transforms/forward.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// The inputs, mapped ones with their examples along axis 0, and the number of examples.
struct Batch {
  std::vector<Tensor> inputs;
  std::vector<bool> mapped;
  std::int64_t examples = -1;
};

Batch read_batch(const std::vector<Tensor>& inputs, const std::vector<MappedAxis>& axes) {
  LADON_CHECK(axes.empty() || axes.size() == inputs.size(), "vmap", "there are ", inputs.size(),
              " inputs but ", axes.size(), " axes");
  Batch batch;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    const MappedAxis axis = axes.empty() ? MappedAxis(0) : axes[i];
    batch.mapped.push_back(axis.has_value());
    batch.inputs.push_back(x);
    if (!axis) continue;
    check_defined("vmap", {x});
    const int a = detail::normalize_axis("vmap", *axis, x.rank());
    const std::int64_t n = x.shape()[a];
    LADON_CHECK(batch.examples < 0 || batch.examples == n, "vmap", "input ", i, " has ", n,
                " examples along axis ", a, " of shape ", x.shape(), ", but others have ",
                batch.examples);
    batch.examples = n;
    std::vector<int> order{a};
    for (int k = 0; k < x.rank(); ++k)
      if (k != a) order.push_back(k);
    batch.inputs[i] = a == 0 ? x : permute(x, order);
  }
  LADON_CHECK(batch.examples >= 0, "vmap", "none of the ", inputs.size(), " inputs is mapped");
  return batch;
}

}  // namespace

namespace detail {

namespace {

/// The gradient of a whole batch from that of each example, which is 0 except in the slice of this
/// example: [examples, shape..], mapped by the level.
Tensor at_own_place(const Tensor& gradient, const mapped::Level& level) {
  Shape place = Shape::filled(gradient.rank() + 1, 1);
  place[0] = level.examples;
  const Tensor own = map_examples(eye(level.examples, gradient.dtype()), level);
  return reshape(own, place) * unsqueeze(gradient, 0);
}

/// x once per example of the level: [examples, shape..].
Tensor copies(const Tensor& x, const mapped::Level& level) {
  Shape shape = x.shape();
  shape.insert(0, level.examples);
  return expand(unsqueeze(x, 0), shape);
}

}  // namespace

// While the vmap runs, x's gradient is that of one example with respect to the whole batch; after
// it, the gradients of the examples are stacked.
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
  return list_examples(x + nothing, level);  // its tangent is mapped by the level
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

}  // namespace detail

std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes) {
  const Batch batch = read_batch(inputs, axes);
  const mapped::Level level = mapped::new_level(batch.examples);
  const mapped::Levels all = mapped::running().with(mapped::Levels({level}));
  std::vector<Tensor> arguments, results;
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    arguments.push_back(batch.mapped[i] ? detail::map_examples(batch.inputs[i], level)
                                        : batch.inputs[i]);
  const auto of_each = [&] {
    const mapped::Scope scope(all);
    return f(arguments);
  };
  for (const Tensor& y : of_each()) {
    check_defined("vmap", {y});
    LADON_CHECK(all.contains(y.levels()), "vmap", "a result of shape ", y.shape(), " has ",
                y.examples(), " examples of another call of vmap, which has ended");
    results.push_back(detail::list_examples(y, level));
  }
  return results;
}

Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& inputs,
            const std::vector<MappedAxis>& axes) {
  const TensorsFunction one = [&](const std::vector<Tensor>& x) { return std::vector{f(x)}; };
  return vmap(one, inputs, axes)[0];
}

std::vector<Tensor> per_example_gradients(const TensorFunction& loss,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& p = parameters[i];
    check_defined("per_example_gradients", {p});
    LADON_CHECK(
        p.requires_grad(), "per_example_gradients", "parameter ", i, " (shape ", p.shape(),
        p.history() ? ") is frozen; call thaw() on its module"
                    : ") does not require a gradient; call set_requires_grad() before the "
                      "loss uses it",
        ". Inside jvp or vmap, use vmap of vjp to differentiate with respect to an argument");
  }
  const bool recorded = grad_enabled();
  const TensorsFunction gradients = [&](const std::vector<Tensor>& example) {
    const EnableGrad enable_grad;
    const Tensor value = loss(example);
    std::vector<Tensor> result(parameters.size());
    if (value.requires_grad())
      result = grad({value}, parameters, {.create_graph = recorded, .allow_unused = true});
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!result[i].defined()) result[i] = zeros_like(parameters[i]);
    return result;
  };
  return vmap(gradients, inputs);
}

}  // namespace ladon
