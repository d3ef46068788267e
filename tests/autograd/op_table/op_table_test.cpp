// Runs every check on every row of the table of operations, and tests that every operation of the
// public headers has a row.

#include <cctype>
#include <set>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/declared_functions.h"
#include "ladon/tests/support.h"
#include "op_checks.h"

namespace ladon::test::op_table_test {
namespace {

// --- the checks ---

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

bool has_gradient(const OpRow& row) {
  for (const OpSample& sample : row.samples)
    if (sample.differentiable) return true;
  return false;
}
const Checks of_values{
    {"value", check_value, always},
    {"gradient", check_gradient, has_gradient},
    {"second_derivative", check_second_derivative, has_second},
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
    for (const Check& c : checks())
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
  for (const auto& header : operation_headers(source_folder()))
    for (const std::string& name : declared_functions(header)) declared.insert(name);
  for (const OpRow& row : op_table().rows()) {
    EXPECT_TRUE(rows.insert(row.name).second) << row.name << " has two rows";
    EXPECT_TRUE(declared.contains(row.name))
        << row.name << " is not declared in a folder of operations";
  }
  for (const std::string& name : declared)
    EXPECT_TRUE(rows.contains(name)) << name << " has no row in the table";
  for (const char* known :
       {"operator+", "max", "split", "fill_", "all_close", "attention_with_weights"})
    EXPECT_TRUE(declared.contains(known)) << known << " was not found in the headers";
}

}  // namespace
}  // namespace ladon::test::op_table_test
