// The average over draws that draws.cpp computes, with the same draws, in differentiable
// operations. Draws are made one after the other, and each is recomputed for its gradient, so that
// memory does not grow with their number. The random numbers are constants for the gradient, which
// passes through the kernels and the tokens' coordinates (kernel/roots.h).

#include <algorithm>

#include "ladon/autograd/checkpoint.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/layers/infinite/attention/draws.h"
#include "ladon/layers/infinite/attention/head_moments.h"
#include "ladon/layers/infinite/attention/logits.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {
namespace {

/// Coordinates of the tokens of one side's inputs (Root), and the lower triangular F with F·Fᵀ =
/// Φ·Φᵀ.
struct Tokens {
  Tensor common, own, spread;  // Φ [P, T, R], Ψ and F [P, T, T]
};

Tokens tokens_of(const Root& root, const Tensor& cov) {
  return {root.common, root.own, lower_root(matmul(root.common, transpose(root.common)), cov)};
}

/// Tokens that the queries and the keys of one side see.
struct Side {
  Tokens queries, keys;
};

/// Logits G = QK·(Φ·Z·Φᵀ + F·Z₁₂·Ψᵀ + Ψ·Z₂₁·Fᵀ + Ψ·Z₂₂·Ψᵀ) of the inputs of one side, and −G, [2,
/// P, Tq, Tk]. Factors on the left are those of queries, factors on the right those of keys. Z is
/// `shared`; Z₁₂, Z₂₁ and Z₂₂ of each input are in z [P, 3, Tq, Tk].
Tensor both_logits(const Tensor& query_key, const Side& x, const Tensor& shared, const Tensor& z) {
  const auto around = [](const Tensor& a, const Tensor& middle, const Tensor& b) {
    return matmul(matmul(a, middle), transpose(b));
  };
  const auto part = [&](std::int64_t i) { return select(z, -3, i); };
  const Tokens &q = x.queries, &k = x.keys;
  const Tensor coordinates =
      slice(slice(shared, 0, {.stop = q.common.size(-1)}), 1, {.stop = k.common.size(-1)});
  const Tensor g =
      query_key * (around(q.common, coordinates, k.common) + around(q.spread, part(0), k.own) +
                   around(q.own, part(1), k.spread) + around(q.own, part(2), k.own));
  return stack({g, -g}, 0);
}

/// list() appends the tensors of a Side, `of_a_side` in number, to a list; listed() makes a Side of
/// the tensors in a list from index `at` on.
constexpr std::size_t of_a_side = 6;
void list(const Side& x, std::vector<Tensor>& to) {
  for (const Tokens* tokens : {&x.queries, &x.keys})
    to.insert(to.end(), {tokens->common, tokens->own, tokens->spread});
}
Side listed(const std::vector<Tensor>& x, std::size_t at) {
  return {{x[at], x[at + 1], x[at + 2]}, {x[at + 3], x[at + 4], x[at + 5]}};
}

}  // namespace

AttentionMoments composed_average(const AttentionLimit& layer, const Seen& seen,
                                  const Pairs& values) {
  const Pairs queries = seen.queries, keys = seen.keys;
  const bool self = seen.self(), tangent = values.ntk.defined();
  const std::int64_t draws = (layer.samples + 1) / 2, pairs = queries.nngp.count();
  const auto side = [&](Root Pairs::*root, Tensor Pairs::*cov) {
    const Tokens of_keys = tokens_of(keys.*root, keys.*cov);
    return Side{self ? of_keys : tokens_of(queries.*root, queries.*cov), of_keys};
  };
  const Side left = side(&Pairs::left_root, &Pairs::left),
             right = side(&Pairs::right_root, &Pairs::right);
  const auto numbers = [&](Root Pairs::*root) {
    return self ? OwnNumbers(keys.*root) : OwnNumbers(queries.*root, keys.*root);
  };
  const OwnNumbers left_numbers = numbers(&Pairs::left_root),
                   right_numbers = numbers(&Pairs::right_root);
  SharedDraws shared(layer.rng, std::max(left.queries.common.size(-1), left.keys.common.size(-1)));
  const Tensor count = full({2}, 0.5 / static_cast<double>(draws), f64);
  std::vector<Tensor> inputs = {layer.query_key};
  list(left, inputs);
  list(right, inputs);
  inputs.insert(inputs.end(), {queries.nngp, keys.nngp, values.nngp});
  if (tangent) inputs.insert(inputs.end(), {queries.ntk, keys.ntk, values.ntk});
  Tensor sum;
  for (std::int64_t s = 0; s < draws; ++s) {
    const Tensor z = shared[s], own_left = left_numbers(layer.rng, s),
                 own_right = right_numbers(layer.rng, s);
    const auto one = [=](const std::vector<Tensor>& x) {
      constexpr std::size_t kernels = 1 + 2 * of_a_side;
      Pairs q = queries, k = keys, v = values;
      q.nngp = x[kernels];
      k.nngp = x[kernels + 1];
      v.nngp = x[kernels + 2];
      if (tangent) q.ntk = x[kernels + 3], k.ntk = x[kernels + 4], v.ntk = x[kernels + 5];
      const AttentionMoments m =
          sum_over_heads(layer, {q, k}, v, both_logits(x[0], listed(x, 1), z, own_left),
                         both_logits(x[0], listed(x, 1 + of_a_side), z, own_right), count);
      return tangent ? concat({flatten(m.value), flatten(m.tangent)}, 0) : flatten(m.value);
    };
    const Tensor y = checkpoint(one, inputs);
    sum = sum.defined() ? sum + y : y;
  }
  const auto part = [&](std::int64_t i) {
    return reshape(slice(sum, 0, {.start = i * pairs, .stop = (i + 1) * pairs}),
                   queries.nngp.shape());
  };
  return {part(0), tangent ? part(1) : Tensor()};
}

}  // namespace ladon::infinite
