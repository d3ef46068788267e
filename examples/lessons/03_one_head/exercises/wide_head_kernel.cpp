// Exercise 3 of lesson 3 (★★★): the kernel of one wide head, by draws.
//
// Weights of infinite width need not be drawn. Work out what the logits of x and of y become when
// the width goes to infinity: Gaussian, with which covariance? Find a small random matrix that
// gives both inputs logits with this distribution, draw the maps (softmax of the logits) from it,
// and average the result of exercise 1 over the draws (write that formula here again: each file is
// compiled alone). Hint: x·Q·Kᵀ·xᵀ/√width has a [d, d] matrix in its middle. How are its entries
// distributed? (normal({draws, d, d}, rng, f64) draws many matrices at once.)

#include "03_one_head/exercises/exercises.h"

using namespace ladon;

Tensor wide_head_kernel(const Tensor& x, const Tensor& y, int draws, Generator& rng) {
  lessons::to_do("draws of the maps of one head on both inputs, and the mean of the covariances");
}
