// Runs every check over every row of the table of operations, and holds the table against the
// public headers.

#include "op_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/vmap.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

// --- inputs ---

std::vector<Tensor> copies(const std::vector<Tensor>& inputs, DType floating = f64) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs)
    result.push_back(is_floating(x.dtype()) ? kernels::clone(kernels::cast(x, floating))
                                            : kernels::clone(x));
  return result;
}

std::vector<Tensor> require_grad(std::vector<Tensor> inputs) {
  for (Tensor& x : inputs)
    if (is_floating(x.dtype())) x.set_requires_grad();
  return inputs;
}

bool any_floating(const std::vector<Tensor>& inputs) {
  for (const Tensor& x : inputs)
    if (is_floating(x.dtype())) return true;
  return false;
}

/// Storage whose every element outside the view under test is far from any sensible value.
Tensor garbage(const Shape& shape, DType dtype) { return full(shape, 1e30, dtype); }

/// x in a window on other storage: its axes in reversed order, every second element of larger axes,
/// or backwards along every axis.
enum class Layout { transposed, strided, reversed };

Tensor laid_out(const Tensor& x, Layout layout) {
  const DType t = x.dtype();
  const int rank = x.rank();
  Tensor window;
  if (layout == Layout::transposed) {
    Shape shape = x.shape();
    std::vector<int> order;
    for (int i = 0; i < rank; ++i) {
      shape[i] = x.size(rank - 1 - i);
      order.push_back(rank - 1 - i);
    }
    window = view::permute(empty(shape, t), order);
  } else if (layout == Layout::strided) {
    Shape shape = x.shape();
    for (int i = 0; i < rank; ++i) shape[i] = 2 * shape[i] + 1;
    window = t == boolean ? ones(shape, t) : t == i64 ? full(shape, 1 << 30, t) : garbage(shape, t);
    for (int i = 0; i < rank; ++i) window = view::slice(window, i, 1, x.size(i), 2);
  } else {
    window = empty(x.shape(), t);
    for (int i = 0; i < rank; ++i)
      if (x.size(i) > 0) window = view::slice(window, i, x.size(i) - 1, x.size(i), -1);
  }
  kernels::copy(window, x);
  return window;
}

// --- comparing ---

double largest(const std::vector<double>& values) {
  double m = 0;
  for (const double v : values)
    if (std::isfinite(v)) m = std::max(m, std::abs(v));
  return m;
}

/// Equal within rtol of the largest value; infinities and NaN in the same places.
void expect_near(const Dense& got, const Dense& want, double rtol, const std::string& what) {
  ASSERT_EQ(detail::join(got.shape), detail::join(want.shape)) << what;
  const double room = rtol * std::max(1.0, largest(want.values));
  for (std::size_t i = 0; i < want.values.size(); ++i) {
    const double a = got.values[i], b = want.values[i];
    const bool same = std::isnan(b)   ? std::isnan(a)
                      : std::isinf(b) ? a == b
                                      : std::abs(a - b) <= room;  // false for a NaN
    ASSERT_TRUE(same) << what << ": element " << i << " is " << a << ", expected " << b;
  }
}

// --- evaluating a sample ---

/// The value, and the gradients of ⟨c, value⟩ for a c that depends on the shape alone.
struct Evaluation {
  Dense value;
  std::vector<Dense> gradients;
};

Tensor cotangent_like(const Tensor& y) {
  Generator rng(77);
  return kernels::cast(normal(y.shape(), rng, 0, 1, f64), y.dtype());
}

enum class Cotangent { plain, strided };

Evaluation evaluate(const OpSample& sample, const std::vector<Tensor>& inputs,
                    Cotangent kind = Cotangent::plain, bool create_graph = false) {
  if (!sample.differentiable) return {Dense(sample.apply(inputs)), {}};
  const std::vector<Tensor> leaves = require_grad(inputs);
  const Tensor y = sample.apply(leaves);
  std::vector<Tensor> wanted;
  for (const Tensor& x : leaves)
    if (x.requires_grad()) wanted.push_back(x);
  Tensor c = cotangent_like(y);
  if (kind == Cotangent::strided) c = laid_out(c, Layout::transposed);
  Evaluation result{Dense(y), {}};
  const GradOptions options{.cotangents = {c}, .create_graph = create_graph};
  for (const Tensor& g : grad({y}, wanted, options)) result.gradients.emplace_back(g);
  return result;
}

void expect_same(const Evaluation& got, const Evaluation& want, double rtol,
                 const std::string& what) {
  expect_near(got.value, want.value, rtol, what + ", value");
  ASSERT_EQ(got.gradients.size(), want.gradients.size()) << what;
  for (std::size_t i = 0; i < want.gradients.size(); ++i)
    expect_near(got.gradients[i], want.gradients[i], 10 * rtol,
                detail::join(what, ", gradient by floating input ", i));
}

// --- the checks ---

std::vector<Dense> dense(const std::vector<Tensor>& inputs) {
  std::vector<Dense> result;
  for (const Tensor& x : inputs) result.emplace_back(x);
  return result;
}

void check_value(const OpRow& row) {
  ASSERT_FALSE(row.samples.empty());
  for (const OpSample& sample : row.samples) {
    const std::vector<Tensor> inputs = copies(sample.inputs);
    const Tensor y = sample.apply(inputs);
    expect_near(Dense(y), sample.reference(dense(sample.inputs)), row.rtol, sample.note);
    for (std::size_t i = 0; i < inputs.size(); ++i)  // an operation leaves its inputs alone
      expect_near(Dense(inputs[i]), Dense(sample.inputs[i]), 0, sample.note + ", input after");
  }
}

void check_gradient(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    if (!sample.differentiable) continue;
    const std::vector<Tensor> inputs = require_grad(copies(sample.inputs));
    EXPECT_TRUE(sample.apply(inputs).requires_grad()) << sample.note;
    EXPECT_NO_THROW(gradcheck(sample.apply, inputs, row.gradcheck)) << sample.note;
  }
}

void check_second_derivative(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    if (!sample.differentiable || !sample.twice_differentiable) continue;
    const std::vector<Tensor> inputs = require_grad(copies(sample.inputs));
    EXPECT_NO_THROW(gradgradcheck(sample.apply, inputs, row.gradcheck)) << sample.note;
    expect_same(evaluate(sample, copies(sample.inputs), Cotangent::plain, true),
                evaluate(sample, copies(sample.inputs)), row.rtol,
                sample.note + ", composed gradient against fused");
  }
}

/// Fixed tangents of the floating inputs.
std::vector<Tensor> tangents_of(const std::vector<Tensor>& inputs) {
  Generator rng(78);
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

/// The second derivative of φ = ⟨c, f⟩ along t in three ways: reverse over reverse, forward over
/// reverse, reverse over forward.
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
  }
}

/// Three examples near the sample's inputs, along a leading axis.
Tensor examples_of(const Tensor& x) {
  std::vector<Tensor> all;
  for (const double factor : {1.0, 0.99, 0.97})
    all.push_back(is_floating(x.dtype()) ? x * factor : x);
  return stack(all, 0);
}

/// Whether one of them has as many axes as a tensor may have, and none left for examples.
bool beyond_rank(const std::vector<Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Tensor& x) { return x.rank() >= Shape::max_rank; });
}

/// f of each example alone, stacked.
Tensor looped(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<MappedAxis>& axes) {
  std::vector<Tensor> results;
  for (std::int64_t i = 0; i < 3; ++i) {
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

/// Values and gradients are those of a loop over examples, with all inputs mapped and with each alone.
void check_vmap(const OpRow& row) {
  int refused = 0;
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

void check_layouts(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    const Evaluation want = evaluate(sample, copies(sample.inputs));
    if (sample.differentiable)
      expect_same(evaluate(sample, copies(sample.inputs), Cotangent::strided), want, row.rtol,
                  sample.note + ", strided cotangent");
    for (std::size_t i = 0; i < sample.inputs.size(); ++i)
      for (const Layout layout : {Layout::transposed, Layout::strided, Layout::reversed}) {
        std::vector<Tensor> inputs = copies(sample.inputs);
        inputs[i] = laid_out(inputs[i], layout);
        expect_same(
            evaluate(sample, inputs), want, row.rtol,
            detail::join(sample.note, ", input ", i, " in layout ", static_cast<int>(layout)));
      }
  }
}

/// Inputs that broadcast give what their expanded copies give, and the gradients summed back.
void check_broadcast(const OpRow& row) {
  int uneven = 0;
  for (const OpSample& sample : row.samples) {
    Shape shape = sample.inputs[0].shape();
    for (const Tensor& x : sample.inputs) shape = broadcast_shapes("test", shape, x.shape());
    std::vector<Tensor> expanded;
    bool stretched = false;
    for (const Tensor& x : sample.inputs) {
      stretched = stretched || !(x.shape() == shape);
      expanded.push_back(kernels::clone(view::expand(x, shape)));
    }
    if (!stretched) continue;
    ++uneven;
    const Evaluation got = evaluate(sample, copies(sample.inputs));
    Evaluation want = evaluate(sample, expanded);
    std::size_t i = 0;
    for (const Tensor& x : sample.inputs) {
      if (!sample.differentiable || !is_floating(x.dtype())) continue;
      Dense summed(x.shape());
      const Dense& full_gradient = want.gradients[i];
      for_each_index(shape, [&](const Shape& index) {
        Shape own = index.sub(shape.rank() - x.rank(), shape.rank());
        for (int a = 0; a < own.rank(); ++a) own[a] = x.size(a) == 1 ? 0 : own[a];
        summed(own) += full_gradient(index);
      });
      want.gradients[i++] = summed;
    }
    expect_same(got, want, row.rtol, sample.note);
  }
  EXPECT_GT(uneven, 0) << "a row that broadcasts needs samples of different shapes";
}

Dense rounded_to_f32(Dense x) {
  for (double& v : x.values) v = static_cast<float>(v);
  return x;
}

/// The same numbers in f32, which the inputs are rounded to first, give the same result in f32.
void check_f32(const OpRow& row) {
  for (const OpSample& sample : row.samples) {
    if (!any_floating(sample.inputs)) continue;
    const std::vector<Tensor> single = copies(sample.inputs, f32);
    EXPECT_NE(sample.apply(single).dtype(), f64) << sample.note << ": f32 inputs, f64 output";
    Evaluation want = evaluate(sample, copies(single, f64));
    want.value = rounded_to_f32(want.value);
    for (Dense& g : want.gradients) g = rounded_to_f32(g);
    expect_same(evaluate(sample, single), want, row.f32_rtol, sample.note);
  }
}

void check_empty(const OpRow& row) {
  for (const OpSample& sample : row.empty) {
    const Evaluation got = evaluate(sample, copies(sample.inputs));
    expect_near(got.value, sample.reference(dense(sample.inputs)), row.rtol, sample.note);
    std::size_t i = 0;
    for (const Tensor& x : sample.inputs) {
      if (!sample.differentiable || !is_floating(x.dtype())) continue;
      EXPECT_EQ(detail::join(got.gradients[i++].shape), detail::join(x.shape())) << sample.note;
    }
  }
}

void check_errors(const OpRow& row) {
  EXPECT_FALSE(row.errors.empty()) << "every operation can be misused: give one case at least";
  for (const OpError& error : row.errors) {
    expect_error(error.call, error.fragment);
    expect_error(error.call, "[");  // names the operation
  }
  // An undefined tensor is an Error, or an operand that may be missing; never a crash.
  for (const OpSample& sample : row.samples)
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
      std::vector<Tensor> inputs = copies(sample.inputs);
      inputs[i] = Tensor();
      try {
        EXPECT_TRUE(sample.apply(inputs).defined()) << sample.note << ", input " << i;
      } catch (const Error&) {
      }
    }
}

struct Check {
  const char* name;
  void (*run)(const OpRow&);
  bool (*applies)(const OpRow&);
};

bool always(const OpRow&) { return true; }
bool has_gradient(const OpRow& row) {
  for (const OpSample& sample : row.samples)
    if (sample.differentiable) return true;
  return false;
}
bool has_second(const OpRow& row) {
  for (const OpSample& sample : row.samples)
    if (sample.differentiable && sample.twice_differentiable) return true;
  return false;
}

const std::vector<Check> checks{
    {"value", check_value, always},
    {"gradient", check_gradient, has_gradient},
    {"second_derivative", check_second_derivative, has_second},
    {"forward", check_forward, has_second},
    {"mixed_modes", check_mixed_modes, has_second},
    {"vmap", check_vmap, always},
    {"layouts", check_layouts, always},
    {"broadcast", check_broadcast, [](const OpRow& row) { return row.broadcasts; }},
    {"f32", check_f32,
     [](const OpRow& row) {
       for (const OpSample& sample : row.samples)
         if (any_floating(sample.inputs)) return true;
       return false;
     }},
    {"empty", check_empty, [](const OpRow& row) { return !row.empty.empty(); }},
    {"errors", check_errors, always},
};

// --- rows × checks ---

struct Case {
  const OpRow* row;
  const Check* check;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.row->name << ", " << c.check->name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const OpRow& row : op_table().rows())
    for (const Check& c : checks)
      if (c.applies(row)) all.push_back({&row, &c});
  return all;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name;
  for (const char c : info.param.row->name)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '_'
                ? std::string(1, c)
                : detail::join("_", static_cast<int>(c));
  return name + "_" + info.param.check->name;
}

class OpTableTest : public testing::TestWithParam<Case> {};

TEST_P(OpTableTest, Holds) { GetParam().check->run(*GetParam().row); }

INSTANTIATE_TEST_SUITE_P(Ops, OpTableTest, testing::ValuesIn(cases()), case_name);

// --- completeness ---

TEST(OpTable, HasEveryDeclaredFunctionAndNoOther) {
  std::set<std::string> declared, rows;
  const std::filesystem::path folder = std::filesystem::path(LADON_SOURCE_DIR) / "autograd/ops";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".h")
      for (const std::string& name : declared_functions(entry.path())) declared.insert(name);
  for (const OpRow& row : op_table().rows()) {
    EXPECT_TRUE(rows.insert(row.name).second) << row.name << " has two rows";
    EXPECT_TRUE(declared.contains(row.name)) << row.name << " is not declared in autograd/ops";
  }
  for (const std::string& name : declared)
    EXPECT_TRUE(rows.contains(name)) << name << " has no row in the table";
  for (const char* known :
       {"operator+", "max", "split", "fill_", "all_close", "attention_with_weights"})
    EXPECT_TRUE(declared.contains(known)) << known << " was not found in the headers";
}

}  // namespace
}  // namespace ladon::test
