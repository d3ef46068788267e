#pragma once
// Evaluation and comparison of a sample of the table of operations, for all its checks.

#include <initializer_list>
#include <string>
#include <vector>

#include "op_table.h"

namespace ladon::test {

/// Copies of the inputs: of floating-point ones in the given dtype, of others in their own.
std::vector<Tensor> copies(const std::vector<Tensor>& inputs, DType floating = f64);
/// The same tensors, of which floating-point ones now require a gradient.
std::vector<Tensor> require_grad(std::vector<Tensor> inputs);
bool any_floating(const std::vector<Tensor>& inputs);
std::vector<Dense> dense(const std::vector<Tensor>& inputs);

/// Non-contiguous memory layout of a copy of x: a view with the axes in reversed order in memory
/// (transposed), of every second element along larger axes (strided), or backwards along every axis
/// (reversed).
enum class Layout { transposed, strided, reversed };
Tensor laid_out(const Tensor& x, Layout layout);

/// Expects elements that are equal to within rtol times the largest value, and infinities and NaN
/// in the same places.
void expect_near(const Dense& got, const Dense& want, double rtol, const std::string& what);

/// Value of an operation, and the gradients of ⟨c, value⟩ for a tensor c that depends only on the
/// shape.
struct Evaluation {
  Dense value;
  std::vector<Dense> gradients;
};
Tensor cotangent_like(const Tensor& y);
enum class Cotangent { plain, strided };
Evaluation evaluate(const OpSample& sample, const std::vector<Tensor>& inputs,
                    Cotangent kind = Cotangent::plain, bool create_graph = false);
void expect_same(const Evaluation& got, const Evaluation& want, double rtol,
                 const std::string& what);

/// A check of one property, for the rows of the table to which it applies.
struct Check {
  const char* name;
  void (*run)(const OpRow&);
  bool (*applies)(const OpRow&);
};
/// All checks, in the order in which the source files register them.
std::vector<Check>& checks();
/// Registers the checks of a source file, in which it is a static object.
struct Checks {
  explicit Checks(std::initializer_list<Check> some) { checks().insert(checks().end(), some); }
};
bool always(const OpRow& row);
/// Whether at least one sample of the row has second derivatives.
bool has_second(const OpRow& row);

}  // namespace ladon::test
