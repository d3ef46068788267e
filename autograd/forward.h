#pragma once
// Forward mode: derivatives along one direction, computed beside the values. A dual number x + ε·ẋ is a
// tensor that carries a tangent; what is computed from it by recorded operations carries J·ẋ. Nothing
// is kept on the way: the memory is that of the function itself, whatever its depth.
//
//   const Tensor x = make_dual(input, direction);
//   const Dual y = unpack_dual(f(x));   // y.tangent is J·direction
//
// An operation's tangent is found from its gradient (record.h). The two modes go together: a gradient
// taken inside, by grad(), carries its tangent H·ẋ, and a tangent of what requires gradients is
// recorded. NoGrad does not stop tangents; detach() does, and backward() stores gradients without.

#include <cstdint>
#include <memory>

#include "ladon/autograd/record.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// x with a tangent of its shape and dtype, sharing its elements and history. Throws Error if x is no
/// floating tensor, or a dual number already: forward mode does not nest.
Tensor make_dual(const Tensor& x, const Tensor& tangent);

/// The two parts of a dual number; the tangent is undefined where there is none.
struct Dual {
  Tensor primal, tangent;
};
Dual unpack_dual(const Tensor& x);

namespace detail {

/// Whether operations compute tangents on this thread: not while one is being found.
bool tangents_enabled();
/// A level that no tangent has. Those of make_dual have level 0.
std::uint64_t new_level();
Tensor make_dual(const char* operation, const Tensor& x, const Tensor& tangent,
                 std::uint64_t level);
/// The tangent of the node's output; null if the inputs have none. Throws Error if their levels differ.
std::shared_ptr<const Tangent> push_forward(Node& node, const Tangents& tangents);

}  // namespace detail

}  // namespace ladon
