// Random calls of the gradient graph: backward passes, hooks, recording, and derivatives of
// functions.

#include <span>

#include "ladon/autograd/checkpoint.h"
#include "ladon/autograd/extra/transforms/forward.h"
#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/leaf.h"
#include "ladon/optim/extra/extra.h"
#include "table.h"

namespace ladon::test {
namespace {

BackwardOptions sweep_options(Draw& d) {
  return {.retain_graph = d.flag(), .create_graph = d.chance(0.2)};
}

/// A pointwise or linear function of tensors, cheap and differentiable.
TensorFunction some_function(Draw& d) {
  const std::vector<std::pair<const char*, TensorFunction>> functions{
      {"x ↦ sum", [](const Tensors& x) { return sum(x.at(0)); }},
      {"x ↦ sum sin²", [](const Tensors& x) { return sum(square(sin(x.at(0)))); }},
      {"x ↦ softmax", [](const Tensors& x) { return softmax(x.at(0), 0); }},
      {"x ↦ product of all",
       [](const Tensors& x) {
         Tensor y = tanh(x.at(0));
         for (std::size_t i = 1; i < x.size(); ++i) y = y * x[i];
         return y;
       }},
      {"x ↦ x", [](const Tensors& x) { return x.at(0); }},
      {"x ↦ undefined", [](const Tensors&) { return Tensor(); }},
      {"x ↦ constant", [](const Tensors&) { return ones({2}); }},
      {"x ↦ matmul", [](const Tensors& x) { return matmul(x.at(0), transpose(x.back())); }},
      {"x ↦ x[0]", [](const Tensors& x) { return select(x.at(0), 0, 0); }}};
  const auto& [name, f] = functions[static_cast<std::size_t>(d.below(9))];
  d.say(name);
  return f;
}

/// At least one, of few elements: a Jacobian has one sweep an element.
Tensors few(Draw& d, DType dtype) {
  Tensors list;
  Shape shape;
  for (std::int64_t rank = d.below(3); rank > 0; --rank) shape.append(d.below(4));
  for (std::int64_t n = 1 + d.below(2); n > 0; --n) {
    const Tensor x = d.made(shape, d.chance(0.95) ? dtype : i64);
    list.push_back(d.chance(0.98) ? x : Tensor());
    d.say(describe(list.back()));
  }
  return list;
}

void add_sweeps(CallTable& table) {
  table.add(
      "grad_enabled", [](Draw&) { return grad_enabled(); }, 0.1);
  table.add("backward", [](Draw& d) {
    const Tensor y = d.floating();
    d.adopt(y);
    backward(y, sweep_options(d));
  });
  table.add("backward", [](Draw& d) {
    const Tensor y = d.floating();
    d.adopt(y);
    const Tensor cotangent = d.twin();
    backward(y, cotangent, sweep_options(d));
  });
  table.add("grad", [](Draw& d) {
    const Tensors outputs{d.floating(), d.floating()}, inputs{d.floating(), d.tensor()};
    GradOptions options{
        .retain_graph = d.flag(), .create_graph = d.chance(0.3), .allow_unused = d.chance(0.8)};
    if (d.chance(0.8)) options.cotangents = {ones_like(outputs[0]), d.twin()};
    return grad(outputs, inputs, options);
  });
  table.add("grad", [](Draw& d) {
    const Tensor x = d.floating(), y = d.chance(0.7) ? sum(x * x) : d.floating();
    return grad(y, x, {.retain_graph = true, .create_graph = d.flag(), .allow_unused = d.flag()});
  });
  table.add("grad", [](Draw& d) {
    const Tensor x = d.floating(), y = d.chance(0.7) ? sum(x * x) : d.floating();
    return grad({y}, {x, d.floating()}, {.retain_graph = true, .allow_unused = d.chance(0.8)});
  });
  table.add("DetectAnomaly", [](Draw& d) {
    const DetectAnomaly watch;
    const Tensor x = d.floating();
    return grad(sum(log(x) * x), x, {.create_graph = d.flag()});
  });
  table.add("register_hook", [](Draw& d) {
    const Tensor x = d.floating();
    const std::int64_t kind = d.say(d.below(5));
    HookHandle handle = register_hook(x, [kind](const Tensor& g) {
      if (kind == 0) return Tensor();
      if (kind == 1) detail::fail("hook", "a user's own error");
      return kind == 2 ? unsqueeze(g, 0) : kind == 3 ? cast(g, i64) : g * 2.0;
    });
    if (d.chance(0.4)) handle.remove();
  });
  table.add("leaves_of", [](Draw& d) { return leaves_of(d.tensor()).size(); });
}

/// Rules of a user's own, right and wrong ones.
void add_recording(CallTable& table) {
  table.add("record", [](Draw& d) {
    const Tensor x = d.floating(), y = d.twin();
    const bool right = d.chance(0.8);
    return record(
        "mine", x * y, {x, y}, [y = saved(y)](const Tensor& g) { return g * *y; },
        [x = saved_for(y, x), right](const Tensor& g) { return right ? g * *x : Tensor(); });
  });
  table.add("record_joint", [](Draw& d) {
    const Tensor x = d.floating();
    const std::size_t place = static_cast<std::size_t>(d.say(d.chance(0.7) ? 0 : d.below(6)));
    const Tensor other = d.chance(0.8) ? x.detach() : d.tensor();
    return record_joint("mine", x * 2.0, {x},
                        [place, other](const Tensor& g, detail::GradientSink& sink) {
                          if (sink.needs(place)) sink.give(place, g * other);
                        });
  });
  table.add("record_joint", [](Draw& d) {
    const Tensors inputs = d.several(0, 3);
    const std::size_t place = static_cast<std::size_t>(d.say(d.below(4)));
    const Tensor y = d.floating();
    return record_joint(
        "mine", y.detach(), std::span(inputs),
        [place](const Tensor& g, detail::GradientSink& sink) { sink.give(place, g); });
  });
  table.add("saved", [](Draw& d) { return *saved(d.tensor()); });
  table.add("saved_for", [](Draw& d) {
    const Tensor x = d.tensor();
    return *saved_for(x, d.partner());
  });
  table.add("CustomFunction", [](Draw& d) {
    const std::int64_t kind = d.say(d.below(4));
    const CustomFunction f{
        .name = "mine",
        .forward = some_function(d),
        .gradient = [kind](const Tensor& g, const Tensors& x, const Tensor&) -> Tensors {
          if (kind == 0) return Tensors(x.size(), g);
          if (kind == 1) return {};
          Tensors list;
          for (const Tensor& input : x) list.push_back(kind == 2 ? zeros_like(input) : Tensor());
          return list;
        }};
    return f(few(d, d.floating_dtype()));
  });
}

void add_functions(CallTable& table) {
  table.add("vjp", [](Draw& d) {
    const TensorFunction f = some_function(d);
    const Tensors x = few(d, d.floating_dtype());
    const VjpResult r = vjp(f, x, d.chance(0.8) ? ones_like(f(x)) : d.tensor());
    return r.gradients;
  });
  table.add("jvp", [](Draw& d) {
    const TensorFunction f = some_function(d);
    const Tensors x = few(d, d.floating_dtype());
    Tensors tangents;
    for (const Tensor& t : x) tangents.push_back(d.chance(0.9) ? ones_like(t) : d.tensor());
    const bool nested = d.flag();
    const auto along = [&](const Tensors& in) {
      return nested ? jvp(f, in, tangents).tangent : f(in);
    };
    const JvpResult r = jvp(along, x, tangents);
    return Tensors{r.output, r.tangent};
  });
  table.add("make_dual", [](Draw& d) {
    const Tensor x = d.floating();
    return make_dual(x, d.twin());  // what later calls get
  });
  table.add("unpack_dual", [](Draw& d) { return unpack_dual(d.tensor()).primal; });
  table.add("vmap", [](Draw& d) {
    const TensorFunction f = some_function(d);
    const Tensors x = few(d, d.floating_dtype());
    std::vector<MappedAxis> axes;
    for (std::size_t i = 0; i < x.size(); ++i)
      axes.push_back(d.chance(0.8) ? MappedAxis(static_cast<int>(d.say(d.below(3)))) : unmapped);
    return vmap(f, x, d.flag() ? axes : std::vector<MappedAxis>{});
  });
  table.add("vmap", [](Draw& d) {
    const TensorFunction f = some_function(d);
    const std::int64_t kind = d.say(d.below(5));
    const TensorsFunction several = [&](const Tensors& x) {
      if (kind == 0) return Tensors{};
      if (kind == 1) return Tensors{f(x), x[0]};
      if (kind == 2) return Tensors{vjp(f, x, ones_like(f(x))).gradients};
      if (kind == 3) return Tensors{vmap(f, x)};
      Generator rng(1);
      return Tensors{f(x) + normal(x[0].shape(), rng, x[0].dtype())};
    };
    return vmap(several, few(d, d.floating_dtype()));
  });
  table.add("per_example_gradients", [](Draw& d) {
    Tensor w = d.floating(), other = d.floating();
    for (Tensor* p : {&w, &other})
      if (!p->history() && d.chance(0.9)) p->set_requires_grad();
    const bool number = d.chance(0.8);
    const auto loss = [&](const Tensors& x) { return number ? sum(x[0] * w) : x[0] * w; };
    return per_example_gradients(loss, few(d, d.floating_dtype()), {w, other});
  });
  table.add("jacobian", [](Draw& d) {
    const TensorFunction f = some_function(d);
    return jacobian(f, few(d, d.floating_dtype()));
  });
  table.add("hvp", [](Draw& d) {
    const TensorFunction f = some_function(d);
    const Tensor x = few(d, f64).at(0);
    return hvp([&](const Tensor& t) { return f({t}); }, x,
               d.chance(0.8) ? ones_like(x) : d.tensor());
  });
  table.add(
      "gradcheck",
      [](Draw& d) {
        const TensorFunction f = some_function(d);
        return gradcheck(f, few(d, f64));
      },
      0.5);
  table.add(
      "gradgradcheck",
      [](Draw& d) {
        const TensorFunction f = some_function(d);
        return gradgradcheck(f, few(d, f64));
      },
      0.3);
  table.add("checkpoint", [](Draw& d) {
    const TensorFunction f = some_function(d);
    Tensors x = few(d, d.floating_dtype());
    Generator rng(d.seed());
    const double p = d.chance(0.5) ? 0 : d.fraction();
    return checkpoint(
        [f, rng, p](const Tensors& inputs) mutable { return dropout(f(inputs), p, rng); }, x);
  });
}

}  // namespace

void add_graph_calls(CallTable& table) {
  add_sweeps(table);
  add_recording(table);
  add_functions(table);
}

}  // namespace ladon::test
