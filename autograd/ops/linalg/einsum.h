#pragma once
// Sums of products, written by indices.

#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon {

/// Einstein summation: einsum("bqd,bkd->bqk", {q, k}). Letters a–z, A–Z; `...` for broadcast axes;
/// a repeated letter in an operand takes the diagonal; without "->" the output has the letters that
/// occur once, in alphabetical order. Any number of operands: of all pairs the one whose product
/// takes the fewest multiplications is contracted first, of equal ones the leftmost.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace ladon
