#pragma once
// Evaluation and comparison of a sample of the table of operations, for all its checks.

#include <initializer_list>
#include <string>
#include <vector>

#include "op_table.h"

namespace ladon::test {

/// Of the floating inputs in that dtype, of others as they are.
std::vector<Tensor> copies(const std::vector<Tensor>& inputs, DType floating = f64);
/// The same tensors; floating ones require a gradient.
std::vector<Tensor> require_grad(std::vector<Tensor> inputs);
bool any_floating(const std::vector<Tensor>& inputs);
std::vector<Dense> dense(const std::vector<Tensor>& inputs);

/// x in a window on other storage: its axes in reversed order, every second element of larger axes,
/// or backwards along every axis.
enum class Layout { transposed, strided, reversed };
Tensor laid_out(const Tensor& x, Layout layout);

/// Equal within rtol of the largest value; infinities and NaN in the same places.
void expect_near(const Dense& got, const Dense& want, double rtol, const std::string& what);

/// The value, and the gradients of ⟨c, value⟩ for a c that depends on the shape alone.
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

/// A property that rows of the table are checked for.
struct Check {
  const char* name;
  void (*run)(const OpRow&);
  bool (*applies)(const OpRow&);
};
/// All checks, in the order in which sources register theirs.
std::vector<Check>& checks();
/// Registers checks of a source, as a static object.
struct Checks {
  explicit Checks(std::initializer_list<Check> some) { checks().insert(checks().end(), some); }
};
bool always(const OpRow& row);
/// Whether a sample has second derivatives.
bool has_second(const OpRow& row);

}  // namespace ladon::test
