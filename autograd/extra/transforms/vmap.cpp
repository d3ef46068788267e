#include "ladon/autograd/extra/transforms/vmap.h"

#include "ladon/autograd/examples.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// The inputs, where mapped ones have their examples along axis 0, and the number of examples.
struct Batch {
  std::vector<Tensor> inputs;
  std::vector<bool> mapped;
  std::int64_t examples = -1;
};

Batch read_batch(const std::vector<Tensor>& inputs, const std::vector<MappedAxis>& axes) {
  LADON_CHECK(axes.empty() || axes.size() == inputs.size(), "vmap", "there are ", inputs.size(),
              " inputs but ", axes.size(), " axes; pass one axis (or `unmapped`) per input");
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
                " examples along axis ", a, " of shape ", x.shape(),
                ", but all mapped inputs must have as many, and the inputs before it have ",
                batch.examples);
    batch.examples = n;
    std::vector<int> order{a};
    for (int k = 0; k < x.rank(); ++k)
      if (k != a) order.push_back(k);
    batch.inputs[i] = a == 0 ? x : permute(x, order);
  }
  LADON_CHECK(batch.examples >= 0, "vmap", "none of the ", inputs.size(),
              " inputs is mapped; pass the axis of examples of at least one input");
  return batch;
}

}  // namespace

std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes) {
  LADON_CHECK(f, "vmap", "the function is empty; pass one that maps the inputs to tensors");
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
                y.examples(),
                " examples of another call of vmap, which has ended; return only tensors that this "
                "call computes");
    results.push_back(detail::list_examples(y, level));
  }
  return results;
}

Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& inputs,
            const std::vector<MappedAxis>& axes) {
  LADON_CHECK(f, "vmap", "the function is empty; pass one that maps the inputs to a tensor");
  const TensorsFunction one = [&](const std::vector<Tensor>& x) { return std::vector{f(x)}; };
  return vmap(one, inputs, axes)[0];
}

std::vector<Tensor> per_example_gradients(const TensorFunction& loss,
                                          const std::vector<Tensor>& inputs,
                                          const std::vector<Tensor>& parameters) {
  LADON_CHECK(loss, "per_example_gradients",
              "the loss is an empty function; pass one that maps an example to its loss");
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
