#include "01_window/exercises/exercises.h"

using namespace ladon;

Tensor unbroadcast(const Tensor& gradient, const Shape& shape) {
  Tensor g = gradient;
  while (g.rank() > shape.rank()) g = sum(g, 0);
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (shape[axis] == 1) g = sum(g, axis, keep_dims);
  return g;
}
