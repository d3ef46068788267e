#include "ladon/layers/infinite/monte_carlo.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"

namespace ladon::infinite {

std::vector<EmpiricalKernel> sample_kernels(const NetworkFactory& make, const Inputs& a,
                                            const Inputs& b, Generator& rng,
                                            const MonteCarloOptions& options) {
  check(options.draws >= 1, "sample_kernels", "needs at least one draw, got ", options.draws);
  const std::uint64_t first = rng.reserve(1);
  const Generator source(rng.seed(), rng.stream());
  std::vector<EmpiricalKernel> kernels(static_cast<std::size_t>(options.draws));
  parallel::for_range(options.draws, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      Generator own = source.split(first).split(static_cast<std::uint64_t>(i));
      const std::unique_ptr<Layer> network = make(own);
      check(network != nullptr, "sample_kernels", "the factory returned no network");
      network->to(options.dtype);
      network->eval();
      kernels[static_cast<std::size_t>(i)] = empirical_kernel(*network, a, b, options.kernel);
    }
  });
  return kernels;
}

namespace {

struct Moments {
  Tensor mean, se;
};

Moments moments(const std::vector<EmpiricalKernel>& draws, Tensor EmpiricalKernel::*which) {
  if (!(draws[0].*which).defined()) return {};
  std::vector<Tensor> all;
  for (const EmpiricalKernel& k : draws) all.push_back(cast(k.*which, f64));
  const Tensor stacked = stack(all);
  return {mean(stacked, 0), stddev(stacked, 0) / std::sqrt(static_cast<double>(draws.size()))};
}

}  // namespace

MonteCarloKernel monte_carlo_kernel(const std::vector<EmpiricalKernel>& draws) {
  check(draws.size() >= 2, "monte_carlo_kernel", "a standard error needs two draws, got ",
        draws.size());
  const NoGrad off;
  const Moments nngp = moments(draws, &EmpiricalKernel::nngp);
  const Moments ntk = moments(draws, &EmpiricalKernel::ntk);
  return {nngp.mean, ntk.mean, nngp.se, ntk.se};
}

MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                                    Generator& rng, const MonteCarloOptions& options) {
  return monte_carlo_kernel(sample_kernels(make, a, b, rng, options));
}

}  // namespace ladon::infinite
