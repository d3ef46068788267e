#pragma once
// Forward mode: derivatives along one direction, computed together with the values. A dual number
// x + ε·ẋ is a tensor that carries a tangent ẋ; the results of recorded operations on it carry
// J·ẋ. No intermediate results are stored for a backward pass, so the memory does not grow with the
// depth of the function.
//
//   const Tensor x = make_dual(input, direction);
//   const UnpackedDual y = unpack_dual(f(x));   // y.tangent is J·direction
//
// An operation's tangent is derived from its gradient rules (record.h). Forward and reverse mode
// combine: a gradient that grad() computes inside forward mode carries its tangent H·ẋ (with H the
// Hessian), and the tangent of a tensor that requires a gradient is recorded. NoGrad does not stop
// tangents; detach() does. backward() stores gradients without tangents.
//
// Forward mode nests: each call of jvp has a level, higher than that of the call around it. A dual
// number has one tangent for each level that it depends on. While the tangent of one level is
// computed, tangents of this and higher levels are ignored, and tangents of lower levels are
// propagated, which gives d/dε₁ of d/dε₂. Tangents of a call that has ended are ignored too
// (Siskind and Pearlmutter 2008, "Nesting forward-mode AD in a functional framework"). make_dual
// uses a separate level inside each call, and another outside all calls.

#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Dual number of x and a tangent of x's shape and dtype; shares x's elements and history. Throws
/// Error if x is not floating, or if it already is a dual number made by make_dual: for second
/// derivatives nest jvp() instead.
Tensor make_dual(const Tensor& x, const Tensor& tangent);

/// The two parts of a dual number that make_dual made or that was computed from one; for other
/// tensors the tangent is undefined.
struct UnpackedDual {
  Tensor primal, tangent;
};
UnpackedDual unpack_dual(const Tensor& x);

/// Jacobian–vector product: the value of f, and J·tangents, by forward mode: f runs once, on dual
/// numbers. Each tangent has the shape and dtype of its input; the tangent of an integer input may
/// be undefined.
struct JvpResult {
  Tensor output, tangent;
};
JvpResult jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& tangents);

namespace detail {

/// Returns a new level of jvp, higher than all before. The number after it is reserved for
/// make_dual inside that call of jvp; outside all calls make_dual uses level 1.
std::uint64_t new_level();
/// Scope in which this thread computes a function on dual numbers of the given level.
struct AtLevel : private Bracket<std::uint64_t> {
  explicit AtLevel(std::uint64_t level) : Bracket(modes.tangents_below, level + 2) {}
};
Tensor make_dual(const char* operation, const Tensor& x, const Tensor& tangent,
                 std::uint64_t level);
/// The value of y and its tangent of the given level; tangents of higher levels are dropped.
UnpackedDual unpack_dual(const Tensor& y, std::uint64_t level);

}  // namespace detail

}  // namespace ladon
