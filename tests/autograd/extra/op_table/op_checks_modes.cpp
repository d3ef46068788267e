// The checks of forward mode, of second derivatives by mixed modes, and of vmap.

#include <algorithm>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/tests/autograd/op_table/op_checks.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

/// Fixed tangents of the floating inputs.
std::vector<Tensor> tangents_of(const std::vector<Tensor>& inputs, std::uint64_t seed = 78) {
  Generator rng(seed);
  std::vector<Tensor> tangents;
  for (const Tensor& x : inputs)
    tangents.push_back(is_floating(x.dtype()) ? kernels::cast(normal(x.shape(), rng), f64)
                                              : Tensor());
  return tangents;
}

/// Σ⟨a, b⟩ over the defined ones, and their list.
Tensor inner(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  Tensor total = scalar(0, f64);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].defined() && b[i].defined()) total = total + sum(a[i] * b[i]);
  return total;
}

Tensor joined(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts)
    if (part.defined()) flat.push_back(reshape(part, {-1}));
  return concat(flat, 0);
}

/// Examples near the sample's inputs, along a leading axis: three, or as many as factors.
Tensor examples_of(const Tensor& x, const std::vector<double>& factors = {1.0, 0.99, 0.97}) {
  std::vector<Tensor> all;
  for (const double factor : factors) all.push_back(is_floating(x.dtype()) ? x * factor : x);
  return stack(all, 0);
}

/// Whether one of them has so many axes that not `more` are left for examples.
bool beyond_rank(const std::vector<Tensor>& inputs, int more = 1) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [=](const Tensor& x) { return x.rank() + more > Shape::max_rank; });
}

/// f of each example alone, stacked.
Tensor looped(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<MappedAxis>& axes, std::int64_t examples = 3) {
  std::vector<Tensor> results;
  for (std::int64_t i = 0; i < examples; ++i) {
    std::vector<Tensor> one;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      one.push_back(axes[k] ? select(inputs[k], 0, i) : inputs[k]);
    results.push_back(f(one));
  }
  return stack(results, 0);
}

/// Whether it is an Error, which names vmap; if not, it gives a result.
bool refuses(const OpSample& sample, const std::vector<Tensor>& inputs) {
  try {
    return !sample.apply(inputs).defined();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("vmap"), std::string::npos) << error.what();
    return true;
  }
}

/// vmap in vmap: two examples of three each, and the inputs that the one or the other maps.
void check_nested_vmap(const OpRow& row, const OpSample& sample) {
  const std::size_t count = sample.inputs.size();
  if (count == 0 || beyond_rank(sample.inputs, 2)) return;
  const auto maps = [](std::size_t input, int apart, int level) {  // apart 0: both map all
    return apart == 0 || (input + level) % 2 == static_cast<std::size_t>(apart - 1);
  };
  for (int apart = 0; apart < (count > 1 ? 3 : 1); ++apart) {
    std::vector<Tensor> inputs = copies(sample.inputs);
    std::vector<MappedAxis> outer(count), inner(count);
    for (std::size_t k = 0; k < count; ++k) {
      if (maps(k, apart, 0)) inner[k] = 0;
      if (maps(k, apart, 1)) outer[k] = 0;
      if (inner[k]) inputs[k] = examples_of(inputs[k]);
      if (outer[k]) inputs[k] = examples_of(inputs[k], {1.0, 0.98});
    }
    OpSample mapped = sample, looped_twice = sample;
    mapped.apply = [&](const auto& x) {
      return vmap([&](const auto& one) { return vmap(sample.apply, one, inner); }, x, outer);
    };
    looped_twice.apply = [&](const auto& x) {
      return looped([&](const auto& one) { return looped(sample.apply, one, inner); }, x, outer, 2);
    };
    expect_same(evaluate(mapped, inputs), evaluate(looped_twice, inputs), 10 * row.rtol,
                detail::join(sample.note, ", vmap in vmap ", apart));
  }
}

/// Gradients of several cotangents at once, which alone are mapped: rows of a Jacobian.
void check_mapped_cotangents(const OpRow& row, const OpSample& sample) {
  if (!sample.differentiable || sample.inputs.empty() || beyond_rank(sample.inputs)) return;
  const std::vector<Tensor> inputs = copies(sample.inputs);
  const Tensor y = sample.apply(inputs);
  if (beyond_rank({y})) return;
  const auto gradients = [&](const std::vector<Tensor>& c) {
    std::vector<Tensor> all;
    for (const Tensor& g : vjp(sample.apply, inputs, c[0]).gradients)
      if (g.defined()) all.push_back(reshape(g, {-1}));
    return concat(all, 0);
  };
  const std::vector<Tensor> cotangents{examples_of(cotangent_like(y))};
  expect_near(Dense(vmap(gradients, cotangents)), Dense(looped(gradients, cotangents, {0})),
              100 * row.rtol, sample.note + ", mapped cotangents");
}

/// The directional derivative is the Jacobian's, entry by entry.
void check_forward(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    if (!sample.differentiable || !sample.twice_differentiable) continue;
    const std::vector<Tensor> inputs = copies(sample.inputs), tangents = tangents_of(inputs);
    const JvpResult got = jvp(sample.apply, inputs, tangents);
    std::vector<Tensor> rows;
    for (const Tensor& x : inputs) rows.push_back(reshape(x, {-1}));
    const auto flat = [&](const std::vector<Tensor>& x) {  // a Jacobian of matrices has four axes
      std::vector<Tensor> shaped;
      for (std::size_t i = 0; i < x.size(); ++i) shaped.push_back(reshape(x[i], inputs[i].shape()));
      return reshape(sample.apply(shaped), {-1});
    };
    const std::vector<Tensor> by_input = jacobian(flat, rows);
    Tensor want = zeros_like(reshape(got.output, {-1}));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (by_input[i].defined())
        want = want + matmul(by_input[i], cast(reshape(tangents[i], {-1}), by_input[i].dtype()));
    want = reshape(want, got.output.shape());
    expect_near(Dense(got.output), Dense(sample.apply(inputs)), row.rtol, sample.note + ", value");
    expect_near(Dense(got.tangent), Dense(want), 100 * row.rtol, sample.note + ", tangent");
  }
}

/// The second derivative of φ = ⟨c, f⟩ along t in four ways: reverse over reverse, forward over
/// reverse, reverse over forward, and along u forward over forward.
/// Second derivatives by reverse over reverse, forward over reverse, reverse over forward and
/// forward over forward agree.
void check_mixed_modes(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    if (!sample.differentiable || !sample.twice_differentiable) continue;
    const std::vector<Tensor> inputs = copies(sample.inputs), tangents = tangents_of(inputs);
    const Tensor c = cotangent_like(sample.apply(inputs));
    const std::vector<Tensor> leaves = require_grad(copies(sample.inputs));
    std::vector<Tensor> wanted, along;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].requires_grad()) {
        wanted.push_back(leaves[i]);
        along.push_back(tangents[i]);
      }
    const auto derivatives = [&](const Tensor& y) {
      std::vector<Tensor> result(wanted.size());
      if (y.requires_grad()) result = grad({y}, wanted, {.allow_unused = true});
      for (std::size_t i = 0; i < result.size(); ++i)
        if (!result[i].defined()) result[i] = zeros_like(wanted[i]);
      return joined(result);
    };
    const GradOptions recorded{.cotangents = {c}, .create_graph = true};
    const Tensor want = derivatives(inner(grad({sample.apply(leaves)}, wanted, recorded), along));
    const auto gradient = [&](const std::vector<Tensor>& x) {
      return joined(vjp(sample.apply, x, c).gradients);
    };
    expect_near(Dense(jvp(gradient, inputs, tangents).tangent), Dense(want), 1000 * row.rtol,
                sample.note + ", forward over reverse");
    const Tensor directional = sum(jvp(sample.apply, leaves, tangents).tangent * c);
    expect_near(Dense(derivatives(directional)), Dense(want), 1000 * row.rtol,
                sample.note + ", reverse over forward");
    const std::vector<Tensor> other = tangents_of(inputs, 79);
    const auto along_t = [&](const std::vector<Tensor>& x) {
      return jvp(sample.apply, x, tangents).tangent;
    };
    std::vector<Tensor> u;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i].requires_grad()) u.push_back(other[i]);
    const Tensor products = want * joined(u);
    const double scale = sum(abs(products)).item();
    EXPECT_NEAR(sum(jvp(along_t, inputs, other).tangent * c).item(), sum(products).item(),
                1000 * row.rtol * std::max(scale, 1.0))
        << sample.note << ", forward over forward";
  }
}

/// Values and gradients are those of a loop over examples, with all inputs mapped and with each
/// alone, and of two loops where vmap runs in vmap.
void check_vmap(const OpRow& row) {
  if (row.draws) return;
  int refused = 0;
  if (row.maps)
    for (const OpSample& sample : row.samples) {
      check_nested_vmap(row, sample);
      check_mapped_cotangents(row, sample);
    }
  for (const OpSample& sample : row.samples)
    for (std::size_t alone = 0; alone <= sample.inputs.size(); ++alone) {
      std::vector<Tensor> inputs = copies(sample.inputs);
      std::vector<MappedAxis> axes;
      if (inputs.empty() || beyond_rank(inputs)) continue;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        axes.push_back(alone == k || alone == inputs.size() ? MappedAxis(0) : unmapped);
        if (axes[k]) inputs[k] = examples_of(inputs[k]);
      }
      const std::string what = detail::join(sample.note, ", mapped ", alone);
      OpSample of_all = sample;
      of_all.apply = [&](const auto& x) { return vmap(sample.apply, x, axes); };
      if (!row.maps) {
        refused += refuses(of_all, inputs);
        continue;
      }
      OpSample one_by_one = sample;
      one_by_one.apply = [&](const auto& x) { return looped(sample.apply, x, axes); };
      expect_same(evaluate(of_all, inputs), evaluate(one_by_one, inputs), 10 * row.rtol, what);
    }
  EXPECT_EQ(refused > 0, !row.maps);
}

const Checks of_modes{{"forward", check_forward, has_second},
                      {"mixed_modes", check_mixed_modes, has_second},
                      {"vmap", check_vmap, always}};

}  // namespace
}  // namespace ladon::test
