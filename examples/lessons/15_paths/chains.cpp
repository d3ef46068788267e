#include "ladon/examples/lessons/15_paths/chains.h"

#include <cmath>

#include "ladon/ladon.h"

namespace ladon::example {

Chains chains(std::int64_t n, Generator& rng) {
  constexpr std::int64_t t = 30, d = 100;
  const std::int64_t all = n + 400;
  const Tensor side = sign(linspace(1, -1, d, f64)), place = eye(t + 1, f64);
  const Tensor nearby = roll(place, -1, 1) + 1.5 * slice(place, 0, {0, 1});
  const Tensor y = sign(normal({all, 1}, rng, f64));
  const Tensor stay = sign(0.5 + 0.2 * y - uniform({all, t}, rng, 0, 1, f64));
  const Tensor state = unsqueeze(cumprod(stay, 1) * sign(normal({all, 1}, rng, f64)), 2);
  const Tensor seen = (1 + state * side) / std::sqrt(2) + normal({all, t, d}, rng, f64);
  const Tensor tokens = concat({zeros({all, 1, d}, f64), seen}, 1);
  const Tensor x = concat({tokens, expand(place, {all, t + 1, t + 1})}, 2);
  const Tensor s = matmul(tokens, unsqueeze(side, 1)) * (std::sqrt(2) / d);  // state plus noise
  const Tensor same = softmax(10 * (matmul(s, transpose(s)) + nearby));
  const Tensor looks = softmax(10 * normal({t + 2, t + 1}, rng, f64));  // maps of random heads
  std::vector<Tensor> paths;  // for each path, what the last token receives through it
  for (const Tensor& a : {same, slice(looks, 0, {0, t + 1})})
    for (const Tensor& b : {full({1, t + 1}, 1.0 / (t + 1), f64), slice(looks, 0, {t + 1})})
      paths.push_back(select(matmul(b, matmul(a, x)), 1, 0));
  const Tensor xi = stack(paths, 0) / std::sqrt(d + t + 1), xt = slice(xi, 1, {0, n});
  return {y, matmul(unsqueeze(xi, 1), transpose(unsqueeze(xt, 0)))};
}

}  // namespace ladon::example
