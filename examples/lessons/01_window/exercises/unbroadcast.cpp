// Exercise 2 of lesson 1 (★★): the gradient of broadcasting.
//
// In y = x + b with x [3, 4] and b [4] every row of y has its own copy of b, so b feels what all
// rows want. Write the gradient of the repetition, for any pair of shapes that broadcast. Hint: sum
// over the axes in front that x does not have; then over each axis where x has size 1, which
// stays an axis of size 1.

#include "01_window/exercises/exercises.h"

using namespace ladon;

Tensor unbroadcast(const Tensor& gradient, const Shape& shape) {
  lessons::to_do("the gradient of x, which was repeated along some axes");
}
