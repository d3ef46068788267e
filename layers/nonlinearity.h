#pragma once
// Named elementwise functions.

#include <optional>
#include <string_view>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/dual/dual.h"

namespace ladon {

enum class Nonlinearity {
  identity,
  relu,
  leaky_relu,
  elu,
  selu,
  gelu,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  softplus,
  abs,
  erf,
  sin,
  cos,
  exp,
  rbf,  ///< √2·sin(√(2γ)·x + π/4): random features of the kernel exp(−γ‖x − x'‖²)
  sign,  ///< −1, 0 or 1
  step,  ///< 0 for x < 0, 1 for x > 0, ½ at 0
  count  ///< Number of nonlinearities.
};

/// The nonlinearity named `name` ("gelu"). Throws Error listing all names if there is none.
Nonlinearity nonlinearity_from_name(std::string_view name);
std::string_view to_string(Nonlinearity f);

/// f(x) elementwise. The parameter is leaky_relu's slope (default 0.01) or rbf's γ (default 1);
/// throws Error for a parameter of any other function.
Tensor activate(Nonlinearity f, const Tensor& x, std::optional<double> parameter = {});

/// Dual of f: the map of kernels that f induces in an infinitely wide network. The parameter is as
/// in activate().
infinite::DualFunction dual_of(Nonlinearity f, std::optional<double> parameter = {});
namespace detail {

/// The given parameter, or f's default. Throws Error if one is given and f takes none, and if rbf's
/// γ is negative.
double checked_parameter(Nonlinearity f, std::optional<double> parameter);
bool has_parameter(Nonlinearity f);

}  // namespace detail

}  // namespace ladon
