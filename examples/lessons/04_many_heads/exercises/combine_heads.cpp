// Exercise 1 of lesson 4 (★): combine the heads.
//
// Every head adds a part to the output: its context, times its block of the output weights. The
// parts are independent, so their variances add up, as do those of the w columns of a context.
// Write the sum, and divide it so that its variance is the same for every H and w. Hint: matmul
// takes a batch, [H, N, w] · [H, w, out] → [H, N, out]; sum(x, 0) sums over the batch.

#include "04_many_heads/exercises/exercises.h"

using namespace ladon;

Tensor combine_heads(const Tensor& contexts, const Tensor& output) {
  lessons::to_do("the sum over heads of context · output weights, divided by the right root");
}
