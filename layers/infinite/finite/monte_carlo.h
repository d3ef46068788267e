#pragma once
// Kernels estimated from many finite networks, with their standard errors.

#include <functional>
#include <memory>
#include <vector>

#include "ladon/autograd/running_moments.h"
#include "ladon/core/random.h"
#include "ladon/layers/infinite/finite/empirical.h"

namespace ladon::infinite {

/// Makes a network with parameters drawn from the given generator.
using NetworkFactory = std::function<std::unique_ptr<Layer>(Generator& rng)>;

struct MonteCarloOptions {
  std::int64_t draws = 200;      ///< Number of networks; standard errors need at least 2.
  EmpiricalOptions kernel = {};  ///< `verify` applies to the first network only.
  DType dtype = f64;             ///< Dtype of the networks.
};

/// The empirical kernels of `draws` networks, each drawn from a separate split of `rng` (which
/// advances by one block, Generator::reserve), computed on all threads. `use` gets them one at a
/// time, in order, so that sums are the same with any number of threads; at most a few dozen are
/// held at a time. Networks run in evaluation mode. Throws Error for a BatchNorm that has seen no
/// batch, and the Errors of empirical_kernel().
void for_each_network(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                      const MonteCarloOptions& options, Generator& rng,
                      const std::function<void(const EmpiricalKernel&)>& use);
/// List of the empirical kernels that for_each_network() passes to `use`, in order.
std::vector<EmpiricalKernel> sample_kernels(const NetworkFactory& make, const Inputs& a,
                                            const Inputs& b, const MonteCarloOptions& options,
                                            Generator& rng);

/// Means over networks, f64, and the standard errors of those means.
struct MonteCarloKernel {
  Tensor nngp, ntk;        ///< Means of the members of EmpiricalKernel.
  Tensor nngp_se, ntk_se;  ///< Their standard errors.
};
MonteCarloKernel monte_carlo_kernel(const std::vector<EmpiricalKernel>& draws);
MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                                    const MonteCarloOptions& options, Generator& rng);
inline MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a,
                                           const Inputs& b, Generator& rng) {
  return monte_carlo_kernel(make, a, b, {}, rng);
}

}  // namespace ladon::infinite
