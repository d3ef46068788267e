// Exercise 1 of lesson 3 (★): the covariance of the outputs, given the maps.
//
// Hold the maps fixed: then only V_h and w_h are random, and the output is linear in each. Work out
// E f_a(x)·f_b(y) by hand first: which of the many products of entries of V and w have a mean that
// is not 0? Then write it for all tokens a of x and b of y at once. Hint: begin with a single head;
// its covariance is a product of the map of x, a matrix made of x and y, and the map of y.

#include "03_one_head/exercises/exercises.h"

using namespace ladon;

Tensor covariance_given_maps(const Tensor& maps_of_x, const Tensor& x, const Tensor& maps_of_y,
                             const Tensor& y) {
  lessons::to_do("the covariance between outputs at tokens of x and of y, given the maps");
}
