#pragma once
// Einstein summation.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Einstein summation, as in NumPy: einsum("bqd,bkd->bqk", {q, k}). Axes are named by letters a–z
/// and A–Z; `...` stands for any number of axes that broadcast. A letter repeated within an operand
/// takes the diagonal; without "->" the output has the letters that occur once, in alphabetical
/// order. With more than two operands, repeatedly contracts the pair whose product takes the fewest
/// multiplications (the leftmost of several such pairs).
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace ladon
