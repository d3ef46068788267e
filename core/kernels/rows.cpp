#include "ladon/core/kernels/rows.h"

namespace ladon::kernels {
namespace {

Tensor move_axis(const Tensor& x, int from, int to) {
  std::vector<int> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return view::permute(x, order);
}

}  // namespace

Tensor axis_to_end(const Tensor& x, int axis) { return move_axis(x, axis, x.rank() - 1); }
Tensor axis_from_end(const Tensor& x, int axis) { return move_axis(x, x.rank() - 1, axis); }

}  // namespace ladon::kernels
