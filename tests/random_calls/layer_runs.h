#pragma once
// Helpers for random calls of layers.

#include "draw.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/layers.h"

namespace ladon::test {

/// Calls the layer, in training or evaluation mode and any dtype, sometimes followed by a backward
/// pass.
inline Tensors run(Draw& d, Layer& layer, const Tensor& x, const Tensor& mask = {}) {
  if (d.chance(0.3)) layer.eval();
  if (d.chance(0.2)) layer.to(d.dtype());
  const Tensor y = mask.defined() ? layer(x, mask) : layer(x);
  if (d.chance(0.5) && y.requires_grad()) {
    d.say("backward of its sum");
    backward(sum(y), {.retain_graph = true});
    layer.zero_grad();
  }
  if (d.chance(0.05)) layer.summary(x);
  return {y};
}

/// Calls the layer on inputs that mostly have the shape [batch, positions, width], sometimes with a
/// mask.
inline Tensors run_on_tokens(Draw& d, Layer& layer, std::int64_t width) {
  const std::int64_t batch = d.below(3), positions = d.below(5);
  const Tensor x = d.near({batch, positions, width});
  return run(d, layer, x, d.chance(0.4) ? d.mask({batch, positions}) : Tensor());
}

inline Init init(Draw& d) { return static_cast<Init>(d.say(d.below(10))); }
inline Parameterization parameterization(Draw& d) {
  return d.chance(0.7) ? Parameterization::standard : Parameterization::ntk;
}

inline std::int64_t width(Draw& d) { return d.around(1, 4); }
inline Shape window(Draw& d, int axes) {
  if (d.chance(0.05)) axes = static_cast<int>(d.below(4));
  Shape shape;
  for (int i = 0; i < axes; ++i) shape.append(d.around(1, 3));
  return shape;
}

}  // namespace ladon::test
