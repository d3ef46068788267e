#pragma once
// Kernels estimated from many finite networks, with their standard errors.

#include <memory>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/layers/infinite/empirical.h"

namespace ladon::infinite {

/// Makes a network with parameters drawn from the generator given.
using NetworkFactory = std::function<std::unique_ptr<Layer>(Generator& rng)>;

struct MonteCarloOptions {
  std::int64_t draws = 200;  ///< Networks, at least 2.
  EmpiricalOptions kernel = {};
  DType dtype = f64;  ///< What the networks compute in.
};

/// The empirical kernels of `draws` networks, each drawn from its own split of `rng` (which
/// advances by one block), on all threads. The same at any number of threads.
std::vector<EmpiricalKernel> sample_kernels(const NetworkFactory& make, const Inputs& a,
                                            const Inputs& b, Generator& rng,
                                            const MonteCarloOptions& options = {});

/// Means over networks, f64, and the standard errors of those means.
struct MonteCarloKernel {
  Tensor nngp, ntk;        ///< As EmpiricalKernel.
  Tensor nngp_se, ntk_se;  ///< sqrt(Σ(k_i − mean)²/(n − 1)/n)
};
MonteCarloKernel monte_carlo_kernel(const std::vector<EmpiricalKernel>& draws);
MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                                    Generator& rng, const MonteCarloOptions& options = {});

}  // namespace ladon::infinite
