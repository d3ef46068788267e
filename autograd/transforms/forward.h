#pragma once
// Forward mode: derivatives along one direction, computed beside the values. A dual number x + ε·ẋ
// is a tensor that carries a tangent; what is computed from it by recorded operations carries J·ẋ.
// Nothing is kept on the way: the memory is that of the function itself, whatever its depth.
//
//   const Tensor x = make_dual(input, direction);
//   const UnpackedDual y = unpack_dual(f(x));   // y.tangent is J·direction
//
// An operation's tangent is found from its gradient (record.h). The two modes go together: a
// gradient taken inside, by grad(), carries its tangent H·ẋ, and a tangent of what requires
// gradients is recorded. NoGrad does not stop tangents; detach() does, and backward() stores
// gradients without.
//
// Forward mode nests: each call of jvp (functional.h) has a level, and a call inside it a higher
// one. A dual number has a tangent for each level that it depends on. While that of one level is
// found, those of it and above are not seen, and those below are carried along: d/dε₁ of d/dε₂.
// Tangents of a call that has ended are not seen either   (Siskind and Pearlmutter 2008,
// "Nesting forward-mode AD in a functional framework"). make_dual has a level of its own inside
// each call, and outside of all.

#include <cstdint>
#include <memory>

#include "ladon/autograd/record.h"
#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// x with a tangent of its shape and dtype, sharing its elements and history. Throws Error if x is
/// no floating tensor, or was made a dual number already: inside make_dual, jvp() nests.
Tensor make_dual(const Tensor& x, const Tensor& tangent);

/// The two parts of a dual number that make_dual made; the tangent is undefined where there is
/// none.
struct UnpackedDual {
  Tensor primal, tangent;
};
UnpackedDual unpack_dual(const Tensor& x);

namespace detail {

/// The first of a dual number's tangents that is seen now; null if none is.
const std::shared_ptr<const Tangent>& visible(const Tensor& x);
/// Levels (of vmap) of x and of its visible tangents.
mapped::Levels levels_of(const Tensor& x);
/// A level above all others. The next one is left for make_dual inside it; outside of all that is
/// 1.
std::uint64_t new_level();
/// While one is alive on this thread, a function of dual numbers of this level is being computed.
struct AtLevel : private Bracket<std::uint64_t> {
  explicit AtLevel(std::uint64_t level) : Bracket(modes.tangents_below, level + 2) {}
};
Tensor make_dual(const char* operation, const Tensor& x, const Tensor& tangent,
                 std::uint64_t level);
/// The parts of y at that level; tangents above it are dropped.
UnpackedDual unpack_dual(const Tensor& y, std::uint64_t level);
/// The tangents of the node's output, one for each visible level of the inputs'; null if there is
/// none.
std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& tangents);

}  // namespace detail

}  // namespace ladon
