#pragma once
// Checks of numbers in options of layers, and use of hyper-parameters (Module::hyperparameters) in
// the forward pass of a finite layer; for authors of layers.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// x·s in x's dtype, for an f64 number s computed from a hyper-parameter, such as
/// weight_std / sqrt(in). Differentiable with respect to both; multiplying by s.item() instead
/// would lose the derivative with respect to the hyper-parameter.
Tensor scaled(const Tensor& x, const Tensor& s);

namespace detail {
/// Throws Error naming the layer and its option unless `value` (a standard deviation, an eps, …) is
/// finite and at least 0.
void check_size(const char* layer, const char* option, double value);
/// Throws Error naming the layer unless `count`, its number of layers, is 1 to 65536: more would
/// draw weights until memory runs out.
void check_depth(const char* layer, std::int64_t count);
}  // namespace detail

}  // namespace ladon
