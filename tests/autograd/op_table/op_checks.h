#pragma once
// Evaluation and comparison of a sample of the table of operations, for all its checks.

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

/// The directional derivative is the Jacobian's, entry by entry.
void check_forward(const OpRow& row);
/// Second derivatives by reverse over reverse, forward over reverse, reverse over forward and
/// forward over forward agree.
void check_mixed_modes(const OpRow& row);
/// Values and gradients are those of a loop over examples, with all inputs mapped and with each
/// alone, and of two loops where vmap runs in vmap.
void check_vmap(const OpRow& row);

}  // namespace ladon::test
