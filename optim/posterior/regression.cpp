#include "ladon/optim/posterior/regression.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ladon/autograd/evaluation.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/parameters.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "RegressionTask";

using Functions = std::function<Tensor(const Tensor& theta, std::int64_t inputs)>;

/// Throws Error unless noise, targets and number of inputs of a task are valid: users may fill in a
/// RegressionTask without make().
void check(const RegressionTask& task) {
  LADON_CHECK(std::isfinite(task.noise) && task.noise > 0, operation, "the noise is ", task.noise,
              "; it must be positive and finite");
  LADON_CHECK(task.targets.defined() && task.targets.rank() == 1, operation,
              "the targets must be [N], one number per training input, got ",
              detail::shape_in_words(task.targets));
  LADON_CHECK(task.inputs >= task.targets.size(0), operation, "there are ", task.targets.size(0),
              " targets for ", task.inputs,
              " inputs; each target needs an input, in the same order, and test inputs come last");
}

/// The functions' outputs [P, count] at the first `count` inputs.
Tensor outputs(const RegressionTask& task, const Tensor& theta, std::int64_t count) {
  LADON_CHECK(task.functions, operation,
              "`functions` is empty; it must map Θ [P, D] and a number of inputs to outputs");
  const Tensor y = task.functions(theta, count);
  LADON_CHECK(y.defined() && y.shape() == Shape({theta.size(0), count}), operation, "for Θ ",
              theta.shape(), " and ", count, " inputs `functions` returns ",
              detail::shape_in_words(y), "; it must be ", Shape({theta.size(0), count}));
  return y;
}

RegressionTask make(std::int64_t dim, Functions functions, const Tensor& inputs,
                    const Tensor& targets, double noise) {
  LADON_CHECK(std::isfinite(noise) && noise > 0, operation, "the noise is ", noise,
              "; it must be positive and finite");
  LADON_CHECK(targets.defined() && targets.rank() == 1, operation,
              "the targets must be [N], one number per training input");
  LADON_CHECK(inputs.size(0) > targets.size(0), operation, "there are ", targets.size(0),
              " targets for ", inputs.size(0),
              " inputs; training inputs come first, followed by at least one test input");
  const Tensor y =
      flatten(kernel_blocks::target_block(operation, "the targets", targets, targets.size(0)));
  return {dim, std::move(functions), inputs.size(0), clone(y), noise};
}

}  // namespace

RegressionTask wide_heads_task(const WideHeadsOptions& options, const Tensor& inputs,
                               const Tensor& targets, double noise) {
  const std::int64_t d = options.dim, h = options.heads, form = d * d;
  LADON_CHECK(options.out == 1, operation, "wide heads must have one output, got ", options.out);
  LADON_CHECK(inputs.defined() && inputs.rank() == 3 && inputs.size(2) == d, operation,
              "inputs must be [N + M, T, ", d, "], got ", detail::shape_in_words(inputs));
  const auto functions = [=, x = cast(inputs.detach(), f64)](const Tensor& theta,
                                                             std::int64_t count) {
    const std::int64_t p = theta.size(0);
    const Tensor heads = reshape(theta, {p, h, form + d});
    const Tensor b = reshape(slice(heads, 2, {.stop = form}), {p, h, d, d});
    const Tensor v = reshape(slice(heads, 2, {.start = form}), {p, h, d, 1});
    return flatten(mean(wide_heads(slice(x, 0, {.stop = count}), b, v, options), 2), 1,
                   -1);  // [P, count, 1] → [P, count]
  };
  return make(h * (form + d), functions, inputs, targets, noise);
}

RegressionTask network_task(Layer& model, const Tensor& inputs, const Tensor& targets,
                            double noise) {
  const ParameterSet parameters = model;
  LADON_CHECK(!parameters.empty(), operation, "the model has no parameters; it needs at least one");
  LADON_CHECK(!model.hyperparameters().empty(), operation,
              "no layer of the model is in NTK parameterization, in which all weights have the "
              "prior N(0, 1) that the task assumes; make its layers with "
              ".parameterization = Parameterization::ntk");
  // The model's outputs with the parameters `row`. The gradient of `functions` below calls this
  // again.
  const auto run = [&model, parameters](const Tensor& row, const Tensor& some) {
    parameters.assign_row(row);
    const detail::EvaluationScope evaluating(operation, true);
    const Tensor y = model(some);
    LADON_CHECK(y.count() == some.size(0), operation, "for ", some.size(0),
                " inputs the model returns shape ", y.shape(),
                "; it must return one number per input");
    return flatten(y);
  };
  const auto functions = [run, parameters, inputs](const Tensor& theta, std::int64_t count) {
    const Tensor some = slice(inputs, 0, {.stop = count});
    const CustomFunction rows{
        .name = "network_task",
        .forward =
            [run, some](const std::vector<Tensor>& in) {
              std::vector<Tensor> values;
              for (std::int64_t i = 0; i < in[0].size(0); ++i)
                values.push_back(cast(run(select(in[0], 0, i), some), f64));
              return stack(values, 0);
            },
        .gradient =
            [run, some, parameters](const Tensor& g, const std::vector<Tensor>& in, const Tensor&) {
              std::vector<Tensor> slopes;
              for (std::int64_t i = 0; i < in[0].size(0); ++i) {
                const EnableGrad recording;
                const Tensor y = run(select(in[0].detach(), 0, i), some);
                slopes.push_back(detail::gradient_row(operation, y, parameters,
                                                      cast(select(g.detach(), 0, i), y.dtype())));
              }
              return std::vector<Tensor>{stack(slopes, 0)};
            }};
    return rows({theta});
  };
  return make(parameters.count(), functions, inputs, targets, noise);
}

Tensor misfit(const RegressionTask& task, const Tensor& functions, const Tensor& targets) {
  check(task);
  const std::int64_t n = task.targets.size(0);
  LADON_CHECK(functions.defined() && functions.rank() == 2 && functions.size(1) >= n, "misfit",
              "functions must be [P, at least ", n, "], got ", detail::shape_in_words(functions));
  LADON_CHECK(!targets.defined() || targets.shape() == Shape({functions.size(0), n}) ||
                  targets.shape() == Shape({1, n}),
              "misfit", "targets must be ", Shape({functions.size(0), n}),
              ", a row for each of functions, or one row for all, got ",
              targets.defined() ? targets.shape() : Shape{});
  const Tensor seen = slice(functions, 1, {.stop = n});
  return sum(square(seen - (targets.defined() ? targets : task.targets)), 1) / (2 * task.noise);
}

LogDensity log_posterior(const RegressionTask& task) {
  check(task);
  return LogDensity(task.dim, [task](const Tensor& theta) {
    return -0.5 * sum(square(theta), 1) - misfit(task, outputs(task, theta, task.targets.size(0)));
  });
}

Tensor test_functions(const RegressionTask& task, const Tensor& theta) {
  check(task);
  const NoGrad off;
  const Tensor all = outputs(task, theta, task.inputs);
  return contiguous(slice(all, 1, {.start = task.targets.size(0)}));
}

}  // namespace ladon
