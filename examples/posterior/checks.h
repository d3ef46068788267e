#pragma once
// What the page computes by itself, computed by the library.

#include <nlohmann/json.hpp>

#include "ladon/core/tensor.h"
#include "ladon/examples/posterior/task.h"

namespace ladon::example {

/// Blocks of a kernel over training and test places [N + M, N + M]: between training places
/// [N, N], of test places and these [M, N], and the test places' own [M].
nlohmann::ordered_json blocks_json(const Tensor& kernel);

/// Rows of the page's checks: the kernel of latents [1, D] of so many heads, and the Gaussian
/// process of this kernel given targets [N].
void add_checks(const Settings& settings, std::int64_t heads, const Tensor& latents,
                const Tensor& targets, nlohmann::ordered_json& checks);

/// The row of the Gaussian process of a kernel [N + M, N + M].
nlohmann::ordered_json process_check(const Tensor& kernel, const Tensor& targets);

}  // namespace ladon::example
