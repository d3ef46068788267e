// Exercise 2 of lesson 16 (★★): the evidence of a strength.
//
// Given ρ each of the V outputs is a linear model: its targets are c·ρ·X·m·σ + N(0, σ²), with c =
// w/(σ√V) and V weights m ~ N(0, 1). Integrate m out. The result has, for every output, a
// determinant and a quadratic form in XᵀY. Both need only k, since XᵀX has the eigenvalue k in V −
// 1 directions, and the columns of XᵀY lie in these. Write the difference from ρ = 0 for all ρ at
// once. Hint: k is the trace of XᵀX divided by V − 1.

#include "16_copy_head/exercises/exercises.h"

using namespace ladon;

Tensor strength_evidence(const Tensor& strength, const CopyPairs& data) {
  lessons::to_do("ln p(Y | ρ) − ln p(Y | 0), with the weights integrated out");
}
