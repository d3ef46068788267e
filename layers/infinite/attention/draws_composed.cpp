// The average over draws in differentiable operations: of the same draws, one after the other, each
// computed again where its gradient is wanted, so that memory does not grow with their number. What an
// input's kernel and its root are is differentiated through the roots (kernel/roots.h), the draws being
// fixed: the gradient of the average itself.

#include "ladon/autograd/functional.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/draws.h"
#include "ladon/layers/infinite/attention/head_moments.h"
#include "ladon/layers/infinite/attention/logits.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {
namespace {

/// One side of the pairs: the coordinates of its inputs and the inputs' own, as the draws take them.
struct Side {
  Tensor common, own, spread;  // Φ [P, T, R], Ψ and F [P, T, T]
};

Side side_of(const Root& root, const Tensor& cov) {
  return {root.common, root.own, lower_root(matmul(root.common, transpose(root.common)), cov)};
}

/// G of a side: QK·(Φ·Z·Φᵀ + F·Z₁₂·Ψᵀ + Ψ·Z₂₁·Fᵀ + Ψ·Z₂₂·Ψᵀ) and −G, [2, P, T, T]; z is of the inputs
/// themselves, [P, 3, T, T].
Tensor both_logits(const Tensor& query_key, const Side& x, const Tensor& shared, const Tensor& z) {
  const auto around = [](const Tensor& a, const Tensor& middle, const Tensor& b) {
    return matmul(matmul(a, middle), transpose(b));
  };
  const auto part = [&](std::int64_t i) { return select(z, -3, i); };
  const Tensor g =
      query_key * (around(x.common, shared, x.common) + around(x.spread, part(0), x.own) +
                   around(x.own, part(1), x.spread) + around(x.own, part(2), x.own));
  return stack({g, -g}, 0);
}

}  // namespace

AttentionMoments composed_average(const AttentionLimit& layer, const Pairs& seen,
                                  const Pairs& values) {
  const std::int64_t draws = (layer.samples + 1) / 2, pairs = seen.nngp.count();
  const bool tangent = values.ntk.defined();
  const Side left = side_of(seen.left_root, seen.left),
             right = side_of(seen.right_root, seen.right);
  const OwnNumbers left_numbers(left.own, seen.left), right_numbers(right.own, seen.right);
  SharedDraws shared(layer.rng, left.common.size(-1));
  const Tensor count = full({2}, 0.5 / static_cast<double>(draws), f64);
  std::vector<Tensor> inputs = {layer.query_key, seen.nngp,    values.nngp, left.common, left.own,
                                left.spread,     right.common, right.own,   right.spread};
  if (tangent) inputs.insert(inputs.end(), {seen.ntk, values.ntk});
  Tensor sum;
  for (std::int64_t s = 0; s < draws; ++s) {
    const Tensor z = shared[s], own_left = left_numbers(layer.rng, s),
                 own_right = right_numbers(layer.rng, s);
    const auto one = [=](const std::vector<Tensor>& x) {
      Pairs k = seen, v = values;
      k.nngp = x[1];
      v.nngp = x[2];
      if (tangent) k.ntk = x[9], v.ntk = x[10];
      const AttentionMoments m =
          sum_over_heads(layer, k, v, both_logits(x[0], {x[3], x[4], x[5]}, z, own_left),
                         both_logits(x[0], {x[6], x[7], x[8]}, z, own_right), count);
      return tangent ? concat({flatten(m.value), flatten(m.tangent)}, 0) : flatten(m.value);
    };
    const Tensor y = checkpoint(one, inputs);
    sum = sum.defined() ? sum + y : y;
  }
  const auto part = [&](std::int64_t i) {
    return reshape(slice(sum, 0, {.start = i * pairs, .stop = (i + 1) * pairs}), seen.nngp.shape());
  };
  return {part(0), tangent ? part(1) : Tensor()};
}

}  // namespace ladon::infinite
