// Exercise 3 of lesson 2 (★★★): several heads.
//
// One product makes the queries, keys and values of all heads. Split it, let every head attend by
// itself, put the heads side by side again and multiply by the output projection. Hint: a reshape
// never moves an element, so [B, T, D] may become [B, T, heads, d], but not [B, heads, T, d]; that
// takes a transpose. matmul multiplies the matrices in the last two axes, separately for each index
// of the leading axes. And look twice at the width under the square root.

#include "02_attention/exercises/exercises.h"

using namespace ladon;

Tensor several_heads(const Tensor& x, const Tensor& projection, const Tensor& output, int heads) {
  lessons::to_do("split into heads, attend, merge, project");
}
