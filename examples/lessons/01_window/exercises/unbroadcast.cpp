// Exercise 2 of lesson 1 (★★): the gradient of broadcasting.
//
// In y = x + b with x [3, 4] and b [4] every row of y has its own copy of b, so the gradient of b
// collects those of all rows. Write the gradient of this repetition, for any pair of shapes that
// broadcast. Hint: sum over the leading axes that x does not have; then over each axis where x has
// size 1, and keep that axis with size 1.

#include "01_window/exercises/exercises.h"

using namespace ladon;

Tensor unbroadcast(const Tensor& gradient, const Shape& shape) {
  lessons::to_do("the gradient of x, which was repeated along some axes");
}
