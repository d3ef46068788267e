// Exercise 3 of lesson 3 (★★★): the kernel of one wide head, by draws.
//
// No weight of width infinity has to be drawn. Work out what the logits of x and of y are when the
// width goes to infinity: Gaussian, with which covariance? Find a small random matrix that gives
// logits of this law to both inputs, draw the maps (softmax of the logits) from it, and average
// what exercise 1 gives for each draw (write its line again: each file stands alone). Hint:
// x·Q·Kᵀ·xᵀ/√width has a [d, d] matrix in its middle. What is the law of its entries?
// (normal({draws, d, d}, rng, f64) draws many matrices at once.)

#include "03_one_head/exercises/exercises.h"

using namespace ladon;

Tensor wide_head_kernel(const Tensor& x, const Tensor& y, int draws, Generator& rng) {
  lessons::to_do("draws of the maps of one head on both inputs, and the mean of the covariances");
}
