#include "ladon/examples/lessons/13_control/arms.h"

#include <cmath>

#include "ladon/ladon.h"

namespace ladon::example {

Answers fitted(std::uint64_t seed) {
  constexpr std::int64_t n = 600, dim = 16, hops = 8, seeds = 3, k = 5, fits = seeds * k;
  const double start[] = {1, 2, 4, 1, 1, 1}, alpha[] = {0, 0, 0, 0, 0.01, 1};
  Generator rng(seed);
  const Tensor words = normal({33, dim}, rng), kinds = randint({n, 10}, rng, 0, 4);
  const Tensor nouns = 8 * kinds + randint({n, 10}, rng, 0, 8), y = select(kinds, 1, 0);
  const Tensor x = embedding(words, nouns) + pad(slice(words, 0, {.start = 32}), {0, 0}, {9, 0});
  const std::vector<Fold> parts = folds(n, k, rng);
  std::vector<Tensor> hits(6, zeros({seeds * n}, f64));
  std::vector<double> size(6, 0);
  for (std::size_t a = 0; a < 6; ++a)
    for (std::int64_t fit = 0; fit < fits; ++fit) {
      Generator own = rng.split(fit);  // initial weights and batches: the same in all arms
      StructuredAttention attention({.dim = dim, .hidden = 32, .hops = hops}, own);
      const Linear readout({.in = hops * dim, .out = 4}, own);
      const Tensor outer = attention.outer = parameter(start[a] * attention.outer.detach());
      Adam adam({attention.inner, outer, readout.weight, readout.bias}, {.lr = 5e-3});
      Svgd svgd(particles_of_rows(outer), SvgdOptions::paper(alpha[a]));
      const auto logits = [&](const Tensor& s) { return readout(flatten(attention(s), 1)); };
      const Tensor train = from_vector(parts[fit % k].train, {n - n / k});
      const Tensor test = from_vector(parts[fit % k].test, {n / k});
      for (int step = 0; step < 60; ++step) {
        const Tensor some = index_select(train, 0, randint({32}, own, 0, n - n / k));
        adam.zero_grad();
        backward(cross_entropy(logits(index_select(x, 0, some)), index_select(y, 0, some)));
        if (a > 2) svgd.apply();
        adam.step();
      }
      const Tensor hit = equal(argmax(logits(index_select(x, 0, test))), index_select(y, 0, test));
      hits[a] = scatter(hits[a], 0, test + fit / k * n, cast(hit, f64));
      size[a] += std::sqrt(mean(square(outer.detach())).item()) / fits;
    }
  for (Tensor& each : hits) each = reshape(each, {seeds, n});
  return {hits, size, parts};
}

}  // namespace ladon::example
