#include "ladon/autograd/vmap.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// The mapped inputs with their examples along axis 0, and how many examples there are.
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
                " examples along axis ", a, " of shape ", x.shape(), ", others have ",
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

Tensor map_examples(const Tensor& x, const mapped::Nest& nest) {
  return record("vmap", mapped::merge(x.detach(), nest), {x},
                [nest](const Tensor& g) { return list_examples(g, nest); });
}

Tensor list_examples(const Tensor& x, const mapped::Nest& nest) {
  if (x.mapped() && x.examples() == nest.all())
    return record("vmap", mapped::divide(x.detach(), nest), {x},
                  [nest](const Tensor& g) { return map_examples(g, nest); });
  Shape shape = x.shape();
  shape.insert(0, nest.inner);
  return expand(unsqueeze(x, 0), shape);
}

Tensor sum_examples(const Tensor& gradient, std::int64_t examples) {
  const std::int64_t all = gradient.examples(),
                     kept = mapped::innermost(examples, mapped::running());
  if (all == kept || mapped::innermost(all, kept) == kept) return gradient;
  return sum(list_examples(gradient, {kept, kept > 0 ? all / kept : all}), 0);
}

}  // namespace detail

std::vector<Tensor> vmap(const TensorsFunction& f, const std::vector<Tensor>& inputs,
                         const std::vector<MappedAxis>& axes) {
  const Batch batch = read_batch(inputs, axes);
  const mapped::Nest nest{mapped::running(), batch.examples};
  const mapped::Scope scope(nest.all());
  std::vector<Tensor> arguments, results;
  for (std::size_t i = 0; i < batch.inputs.size(); ++i)
    arguments.push_back(batch.mapped[i] ? detail::map_examples(batch.inputs[i], nest)
                                        : batch.inputs[i]);
  for (const Tensor& y : f(arguments)) {
    check_defined("vmap", {y});
    LADON_CHECK(!y.mapped() || y.examples() == nest.all() ||
                    mapped::innermost(y.examples(), nest.outer) == nest.outer,
                "vmap", "a result of shape ", y.shape(), " has ", y.examples(),
                " examples, here there are ", nest.all(), "; it comes from another call of vmap");
    results.push_back(detail::list_examples(y, nest));
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
  const TensorsFunction gradients = [&](const std::vector<Tensor>& example) {
    const EnableGrad enable_grad;
    const Tensor value = loss(example);
    std::vector<Tensor> result(parameters.size());
    if (value.requires_grad()) result = grad({value}, parameters, {.allow_unused = true});
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!result[i].defined()) result[i] = zeros_like(parameters[i]);
    return result;
  };
  return vmap(gradients, inputs);
}

}  // namespace ladon
