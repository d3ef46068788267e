#pragma once
// Forward mode: derivatives along one direction, computed together with the values. A dual number x
// + ε·ẋ is a tensor that carries a tangent; results of recorded operations on it carry J·ẋ. No
// intermediate results are stored: the memory is that of the function itself, whatever its depth.
//
//   const Tensor x = make_dual(input, direction);
//   const UnpackedDual y = unpack_dual(f(x));   // y.tangent is J·direction
//
// An operation's tangent is derived from its gradient (record.h). The two modes combine: a gradient
// computed inside by grad() carries its tangent H·ẋ, and the tangent of a tensor that requires a
// gradient is recorded. NoGrad does not stop tangents; detach() does, and backward() stores
// gradients without tangents.
//
// Forward mode nests: each call of jvp has a level, higher than that of the call
// around it. A dual number has one tangent for each level that it depends on. While the tangent of
// one level is computed, tangents of this and higher levels are ignored, and lower ones are
// propagated: d/dε₁ of d/dε₂. Tangents of a call that has ended are ignored too   (Siskind and
// Pearlmutter 2008, "Nesting forward-mode AD in a functional framework"). make_dual has a separate
// level inside each call, and one outside all calls.

#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/tangent.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// x with a tangent of its shape and dtype, sharing x's elements and history. Throws Error if x is
/// not floating, or already is a dual number made by make_dual: nest jvp() instead.
Tensor make_dual(const Tensor& x, const Tensor& tangent);

/// The two parts of a dual number made by make_dual; the tangent is undefined for other tensors.
struct UnpackedDual {
  Tensor primal, tangent;
};
UnpackedDual unpack_dual(const Tensor& x);

/// Value and J·tangents, by forward mode: f runs once, on dual numbers. Tangents have the shapes
/// and dtypes of their inputs; that of an integer input may be undefined.
struct JvpResult {
  Tensor output, tangent;
};
JvpResult jvp(const TensorFunction& f, const std::vector<Tensor>& inputs,
              const std::vector<Tensor>& tangents);

namespace detail {

/// A level higher than all before. The next number is reserved for make_dual inside the new level;
/// outside all calls make_dual uses level 1.
std::uint64_t new_level();
/// Scope on this thread in which a function is computed on dual numbers of this level.
struct AtLevel : private Bracket<std::uint64_t> {
  explicit AtLevel(std::uint64_t level) : Bracket(modes.tangents_below, level + 2) {}
};
Tensor make_dual(const char* operation, const Tensor& x, const Tensor& tangent,
                 std::uint64_t level);
/// The value and the tangent of y at that level; tangents of higher levels are dropped.
UnpackedDual unpack_dual(const Tensor& y, std::uint64_t level);

}  // namespace detail

}  // namespace ladon
