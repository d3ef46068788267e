// Exercise 1 of lesson 1 (★): read a window.
//
// A tensor is a strip of memory and a rule for where each element is in it. Write the loop that
// every operation on a tensor of any rank needs: visit all indices in row-major order, and collect
// the elements. Hint: keep the index as a vector, and count it up as an odometer does: the last
// axis first; an axis that reaches its size goes back to 0 and carries into the one before it.

#include "01_window/exercises/exercises.h"

using namespace ladon;

std::vector<double> read_window(const std::vector<double>& memory, const Window& window) {
  std::vector<double> elements;
  lessons::to_do("the elements of a window, in row-major order");
  return elements;
}
