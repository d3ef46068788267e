#pragma once
// Functions that make optimizers, and a run of one on a fixed sequence of gradients.

#include <functional>
#include <memory>
#include <vector>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test {

using Make = std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>)>;

template <class O, class Options>
Make with(Options options) {
  return [options](std::vector<Tensor> p) { return std::make_unique<O>(std::move(p), options); };
}

template <class O, class Options>
Make sampling(Options options) {
  return [options](std::vector<Tensor> p) {
    return std::make_unique<O>(std::move(p), options, Generator(3));
  };
}

/// Gradient at x in step t: c_t·(0.3, −0.7, 1.1) + 0.1·(t + 1)·x², with c_t = 1 for even t and −½
/// for odd t.
inline Tensor gradient_at(const Tensor& x, int t) {
  const Tensor base = tensor({0.3, -0.7, 1.1}, f64) * (t % 2 == 0 ? 1 : -0.5);
  return cast(base + square(cast(x.detach(), f64)) * (0.1 * (t + 1)), x.dtype());
}

inline void run(Optimizer& optimizer, Tensor x, int from, int to) {
  for (int t = from; t < to; ++t) {
    x.set_grad(gradient_at(x, t));
    optimizer.step();
  }
}

}  // namespace ladon::test
