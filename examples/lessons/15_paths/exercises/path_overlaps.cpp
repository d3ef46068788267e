// Exercise 1 of lesson 15 (★): the order parameter of a network.
//
// Heads of both layers multiply tokens by V_h/√N, and the output is aᵀ/√N times the result. So the
// output of path (h₁, h₂) is wᵀ·token/√N for one vector w per path, and U has the inner products of
// these vectors, divided by N. Write U. Hint: the output of the path is aᵀ·V₂·V₁·token/N^(3/2), a
// row times matrices; select(weights.first, 0, h) is V_h, and matmul(transpose(v), a) multiplies by
// the transpose.

#include "15_paths/exercises/exercises.h"

using namespace ladon;

Tensor path_overlaps(const PathWeights& weights) {
  lessons::to_do("the vector w of each path, and U = w·wᵀ/N");
}
