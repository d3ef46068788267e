#include "ladon/autograd/functional.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "ladon/autograd/examples.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/inner_graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/mapped.h"
#include "ladon/core/modes.h"
#include "ladon/core/random.h"

namespace ladon {

using detail::alias;
using detail::as_leaf;
using detail::captured_by;

namespace {

/// Wraps the inputs of a function whose derivative is computed, and decides whether the derivative
/// is recorded: it is if recording is on and an input, a tensor that the function captures, or a
/// tangent of one of these requires a gradient.
class Inner {
 public:
  /// Must be constructed before EnableGrad, since it reads whether recording is on.
  explicit Inner(const std::vector<Tensor>& inputs)
      : outer_(grad_enabled()), first_(as_leaf(empty({})).history()->number()) {
    for (const Tensor& x : inputs) {
      const bool more = outer_ && x.defined() && x.requires_grad();
      wanted_ = wanted_ || more;
      at.push_back(more ? alias(x) : as_leaf(x));
    }
  }
  bool recorded(const Tensor& output, const Tensor& cotangent = {}) const {
    if (!outer_) return false;
    return wanted_ || (cotangent.defined() && cotangent.requires_grad()) || depends(output);
  }

  std::vector<Tensor> at;  ///< The inputs as leaves or aliases, where the backward pass ends.

 private:
  /// Whether y, or a tangent of it, depends on a captured tensor.
  bool depends(const Tensor& y) const {
    if (!captured_by(y, at, first_).empty()) return true;
    for (auto t = detail::visible(y); t; t = t->below)
      if (depends(t->value)) return true;
    return false;
  }

  bool outer_, wanted_ = false;
  std::uint64_t first_;
};

/// y itself if `recorded`, else y without its history, but with its tangents.
Tensor result_of(const Tensor& y, bool recorded) {
  if (recorded) return y;
  Tensor plain = y.detach();
  plain.set_tangent(y.tangent());
  return plain;
}

/// Gradients of ⟨cotangent, output⟩ with respect to the inputs: zeros if the output does not depend
/// on an input, undefined if the input does not require a gradient.
std::vector<Tensor> gradients_or_zeros(const Tensor& output, const std::vector<Tensor>& inputs,
                                       const Tensor& cotangent, const BackwardOptions& options) {
  std::vector<Tensor> wanted, gradients(inputs.size());
  for (const Tensor& x : inputs)
    if (x.requires_grad()) wanted.push_back(x);
  std::vector<Tensor> found(wanted.size());
  if (output.requires_grad() && !wanted.empty())
    found = grad({output}, wanted,
                 {.cotangents = {cotangent},
                  .retain_graph = options.retain_graph,
                  .create_graph = options.create_graph,
                  .allow_unused = true});
  auto next = found.begin();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].requires_grad()) {
      gradients[i] = next->defined() ? *next : zeros_like(inputs[i]);
      ++next;
    }
  return gradients;
}

/// The elements of x in row-major order as a vector, not recorded.
Tensor flat(const Tensor& x) { return reshape(x.detach(), {-1}); }

}  // namespace

// --- derivatives ---

VjpResult vjp(const TensorFunction& f, const std::vector<Tensor>& inputs, const Tensor& cotangent) {
  LADON_CHECK(f, "vjp", "the function is empty; pass one that maps the inputs to a tensor");
  const Inner inner(inputs);
  const EnableGrad enable_grad;
  const Tensor output = f(inner.at);
  const bool recorded = inner.recorded(output, cotangent);
  return {result_of(output, recorded),
          gradients_or_zeros(output, inner.at, cotangent, {.create_graph = recorded})};
}

namespace {

/// The Jacobian with respect to each input that requires a gradient, as rows: [output count, input
/// count].
std::vector<Tensor> jacobian_rows(const Tensor& output, const std::vector<Tensor>& inputs,
                                  bool recorded = false) {
  std::vector<std::vector<Tensor>> rows(inputs.size());
  const Tensor units = eye(output.count(), output.dtype());
  for (std::int64_t m = 0; m < output.count(); ++m) {
    const std::vector<Tensor> gradients =
        gradients_or_zeros(output, inputs, reshape(select(units, 0, m), output.shape()),
                           {.retain_graph = true, .create_graph = recorded});
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (gradients[i].defined()) rows[i].push_back(reshape(gradients[i], {-1}));
  }
  std::vector<Tensor> result(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    result[i] = rows[i].empty() ? zeros({0, inputs[i].count()}, inputs[i].dtype())
                                : result_of(stack(rows[i], 0), recorded);
  }
  return result;
}

}  // namespace

std::vector<Tensor> jacobian(const TensorFunction& f, const std::vector<Tensor>& inputs) {
  LADON_CHECK(f, "jacobian", "the function is empty; pass one that maps the inputs to a tensor");
  const Inner inner(inputs);
  const EnableGrad enable_grad;
  const Tensor output = f(inner.at);
  std::vector<Tensor> result = jacobian_rows(output, inner.at, inner.recorded(output));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!result[i].defined()) continue;
    Shape shape = output.shape();
    for (const std::int64_t size : inputs[i].shape()) shape.append(size);
    result[i] = reshape(result[i], shape);
  }
  return result;
}

Tensor hvp(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, const Tensor& v) {
  LADON_CHECK(f, "hvp", "the function is empty; pass one that maps x to a number");
  const Inner inner({x});
  const EnableGrad enable_grad;
  const Tensor value = f(inner.at[0]);
  LADON_CHECK(value.count() == 1, "hvp", "f must return a tensor of one element, got shape ",
              value.shape());
  const bool recorded = inner.recorded(value, v);
  const Tensor gradient =
      gradients_or_zeros(value, inner.at, ones_like(value), {.create_graph = true})[0];
  return result_of(gradients_or_zeros(gradient, inner.at, v, {.create_graph = recorded})[0],
                   recorded);
}

// --- checks of gradients ---

namespace {

/// Central differences of f with respect to input i: [output count, input count]. f receives leaves
/// here too, as it does in jacobian_rows(), so it may call grad() on them.
Tensor difference_rows(const TensorFunction& f, const std::vector<Tensor>& inputs, std::size_t i,
                       std::int64_t outputs, double step) {
  const Tensor& x = inputs[i];
  Tensor columns = empty({x.count(), outputs}, f64);
  const auto value_at = [&](std::int64_t k, double shift) {
    std::vector<Tensor> shifted = inputs;
    Tensor moved = kernels::clone(x).detach();
    moved.mutable_data<double>()[k] += shift;
    shifted[i] = as_leaf(moved);
    return flat(f(shifted));
  };
  for (std::int64_t k = 0; k < x.count(); ++k) {
    const Tensor difference = (value_at(k, step) - value_at(k, -step)) / (2 * step);
    kernels::copy(select(columns, 0, k), difference);
  }
  return transpose(columns);
}

void check_jacobian(const Tensor& reverse, const Tensor& central, std::size_t input,
                    const GradcheckOptions& options) {
  const std::vector<double> r = numbers_of("gradcheck", reverse),
                            c = numbers_of("gradcheck", central);
  for (std::size_t k = 0; k < r.size(); ++k) {
    const double room = options.atol + options.rtol * std::max(std::abs(r[k]), std::abs(c[k]));
    const auto columns = static_cast<std::size_t>(reverse.size(1));
    LADON_CHECK(std::abs(r[k] - c[k]) <= room, "gradcheck", "d output[", k / columns,
                "] / d input ", input, "[", k % columns, "] is ", r[k], " by reverse mode but ",
                c[k], " by central differences (flat indices), farther apart than ", room,
                "; check the gradient rules of the operations in f");
  }
}

/// gradcheck() of f, but with central differences of `values`, a function with the same values as
/// f.
bool check_against_differences(const TensorFunction& f, const std::vector<Tensor>& inputs,
                               GradcheckOptions options, const TensorFunction& values) {
  const EnableGrad enable_grad;
  std::vector<Tensor> leaves;
  bool any = false;
  for (const Tensor& x : inputs) {
    any = any || x.requires_grad();
    LADON_CHECK(!x.requires_grad() || x.dtype() == f64, "gradcheck",
                "inputs that require gradients must be f64, got ", x.dtype(),
                "; differences in f32 are too inexact: use cast(x, f64)");
    leaves.push_back(x.requires_grad() ? as_leaf(x) : x);
  }
  LADON_CHECK(
      any, "gradcheck",
      "no input requires a gradient, so there is nothing to check; call set_requires_grad() on one");
  const Tensor output = f(leaves);
  check_defined("gradcheck", {output});
  LADON_CHECK(output.dtype() == f64, "gradcheck", "the output of f must be f64, got ",
              output.dtype(), "; let f compute in the dtype of its inputs");
  const std::vector<Tensor> reverse = jacobian_rows(output, leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (reverse[i].defined())
      check_jacobian(reverse[i], difference_rows(values, leaves, i, output.count(), options.step),
                     i, options);
  return true;
}

}  // namespace

bool gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
               GradcheckOptions options) {
  LADON_CHECK(f, "gradcheck", "the function is empty; pass one that maps the inputs to a tensor");
  return check_against_differences(f, inputs, options, f);
}

bool gradgradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                   GradcheckOptions options) {
  LADON_CHECK(f, "gradgradcheck",
              "the function is empty; pass one that maps the inputs to a tensor");
  const Tensor value = f(inputs);
  check_defined("gradgradcheck", {value});
  Generator rng(0x6772616463686b);
  std::vector<Tensor> extended = inputs;
  extended.push_back(as_leaf(normal(value.shape(), rng, 0, 1, f64)));

  // The gradients of ⟨c, f⟩, concatenated, as a function of the inputs and of c.
  const auto gradient = [&](const std::vector<Tensor>& at) {
    const bool recorded = grad_enabled();
    const EnableGrad enable_grad;
    std::vector<Tensor> arguments;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(inputs[i].requires_grad() && !at[i].requires_grad() ? as_leaf(at[i])
                                                                              : at[i]);
    std::vector<Tensor> parts;
    for (const Tensor& g :
         gradients_or_zeros(f(arguments), arguments, at.back(), {.create_graph = recorded}))
      if (g.defined()) parts.push_back(reshape(g, {-1}));
    return concat(parts, 0);
  };
  // The central differences are of the gradient under NoGrad, which uses the fast forms, as in
  // training.
  return check_against_differences(gradient, extended, options, [&](const std::vector<Tensor>& at) {
    const NoGrad no_grad;
    return gradient(at);
  });
}

// --- user-defined operations ---

namespace {

/// A copy of the name that exists until the program ends, since nodes store only a pointer to it.
const char* interned(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

}  // namespace

Tensor CustomFunction::operator()(const std::vector<Tensor>& inputs) const {
  LADON_CHECK(forward && gradient, "CustomFunction", "`", name,
              "` needs forward and gradient, but ", forward ? "gradient" : "forward", " is empty");
  std::vector<Tensor> plain;
  for (const Tensor& x : inputs) plain.push_back(x.detach());
  Tensor output;
  {
    const NoGrad no_grad;
    output = forward(plain);
  }
  const char* operation = interned(name);
  check_defined(operation, {output});
  const std::vector<Saved> kept(inputs.begin(), inputs.end());
  return record_joint(operation, output, inputs,
                      [operation, rule = gradient, kept](const Tensor& g, const Tensor& y,
                                                         detail::GradientSink& sink) {
                        const std::vector<Tensor> saved_inputs(kept.begin(), kept.end());
                        const auto run = [&] {  // with the vmap levels of y, so that each example
                                                // draws separate random numbers even after its
                                                // vmap has ended
                          const mapped::Scope scope(mapped::running().with(y.levels()));
                          return rule(g, saved_inputs, y);
                        };
                        const std::vector<Tensor> gradients = run();
                        LADON_CHECK(gradients.size() == kept.size(), operation,
                                    "its gradient returned ", gradients.size(), " tensors for ",
                                    kept.size(),
                                    " inputs; return one per input, undefined where there is none");
                        for (std::size_t i = 0; i < kept.size(); ++i) {
                          const Tensor& gi = gradients[i];
                          LADON_CHECK(!gi.defined() || gi.shape() == kept[i]->shape(), operation,
                                      "its gradient for input ", i, " has shape ", gi.shape(),
                                      ", but the input has shape ", kept[i]->shape(),
                                      "; if the input was broadcast, use sum_to");
                          if (gi.defined()) sink.give(i, detail::repeat_examples(gi, y.levels()));
                        }
                      });
}

}  // namespace ladon
