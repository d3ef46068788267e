#include "01_window/exercises/exercises.h"

using namespace ladon;

std::vector<double> read_window(const std::vector<double>& memory, const Window& window) {
  std::vector<double> elements;
  for (const int size : window.shape)
    if (size == 0) return elements;
  const int rank = static_cast<int>(window.shape.size());
  std::vector<int> index(window.shape.size(), 0);
  for (;;) {
    int place = window.offset;
    for (int axis = 0; axis < rank; ++axis) place += index[axis] * window.strides[axis];
    elements.push_back(memory[place]);
    int axis = rank - 1;
    while (axis >= 0 && ++index[axis] == window.shape[axis]) index[axis--] = 0;
    if (axis < 0) return elements;
  }
}
