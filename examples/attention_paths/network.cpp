#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/attention_paths/study.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/optim/samplers/chains.h"
#include "ladon/optim/samplers/hmc.h"

namespace ladon::example {
namespace {

constexpr std::int64_t chains = 16, heads = 2;

/// Outputs f [P, n] of P networks, whose weights are the rows of θ [P, D], at n inputs ξ [paths, n,
/// d].
Tensor functions(const Tensor& theta, const Tensor& inputs, std::int64_t width) {
  const std::int64_t p = theta.size(0), d = inputs.size(2);
  std::int64_t done = 0;
  const auto take = [&](std::int64_t rows, std::int64_t columns, double variance) {
    const Tensor part = slice(theta, 1, {.start = done, .stop = done + rows * columns});
    done += rows * columns;
    return reshape(part, {p, rows, columns}) / std::sqrt(variance);
  };
  const auto n = static_cast<double>(width);
  const Tensor embedding = take(width, d, static_cast<double>(d));
  std::vector<Tensor> first, second;
  for (std::int64_t h = 0; h < heads; ++h) first.push_back(take(width, width, heads * n));
  for (std::int64_t h = 0; h < heads; ++h) second.push_back(take(width, width, heads * n));
  const Tensor readout = take(1, width, n);
  Tensor f;
  for (std::int64_t h2 = 0; h2 < heads; ++h2) {
    Tensor sum;
    for (std::int64_t h1 = 0; h1 < heads; ++h1) {
      const Tensor xi = transpose(select(inputs, 0, h1 * heads + h2));  // [d, n]
      const Tensor part = matmul(matmul(first[h1], embedding), unsqueeze(xi, 0));
      sum = h1 == 0 ? part : sum + part;
    }
    const Tensor part = matmul(matmul(readout, second[h2]), sum);
    f = h2 == 0 ? part : f + part;
  }
  return select(f, 1, 0);
}

}  // namespace

NetworkDraws sample_network(const Task& task, std::int64_t width, std::int64_t draws,
                            Generator& rng) {
  const std::int64_t d = task.inputs.size(2), size = width * (d + 2 * heads * width + 1);
  const Tensor train = contiguous(slice(task.inputs, 1, {.stop = task.train}));
  const Tensor test = contiguous(slice(task.inputs, 1, {.start = task.train}));
  const Tensor y = unsqueeze(task.targets(), 0);
  const LogDensity density(size, [&](const Tensor& theta) {
    return -0.5 * sum(square(theta), 1) -
           sum(square(functions(theta, train, width) - y), 1) / (2 * noise);
  });
  const Tensor start = normal({chains, size}, rng, 0, 1, f64);
  const Chains found = hmc(density, start,
                           {.draws = draws,
                            .warmup = draws,
                            .steps = 100,
                            .progress = [](auto, auto) { stop_if_interrupted(); }},
                           rng);
  const NoGrad off;
  std::vector<Tensor> f;
  for (std::int64_t s = 0; s < draws; ++s)
    f.push_back(functions(contiguous(select(found.draws, 1, s)), test, width));
  const Tensor all = stack(f, 1);  // [chains, draws, M]
  const Tensor of_chains = mean(all, 1);
  return {.weights = size,
          .mean = mean(of_chains, 0),
          .error = std::sqrt(mean(var(of_chains, 0)).item() / chains),
          .rhat = amax(split_rhat(all)).item()};
}

}  // namespace ladon::example
