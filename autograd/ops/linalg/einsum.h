#pragma once
// Einstein summation.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Einstein summation: einsum("bqd,bkd->bqk", {q, k}). Letters a–z, A–Z; `...` for broadcast axes;
/// a letter repeated in an operand takes the diagonal; without "->" the output has the letters that
/// occur once, in alphabetical order. Any number of operands: repeatedly contracts the pair whose
/// product takes the fewest multiplications, the leftmost among equals.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace ladon
