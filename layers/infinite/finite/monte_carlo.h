#pragma once
// Kernels estimated from many finite networks, with their standard errors.

#include <functional>
#include <memory>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/layers/infinite/finite/empirical.h"

namespace ladon::infinite {

/// Makes a network with parameters drawn from the generator given.
using NetworkFactory = std::function<std::unique_ptr<Layer>(Generator& rng)>;

struct MonteCarloOptions {
  std::int64_t draws = 200;      ///< Networks, at least 2.
  EmpiricalOptions kernel = {};  ///< Reports are verified in the first network only.
  DType dtype = f64;             ///< What the networks compute in.
};

/// The empirical kernels of `draws` networks, each drawn from its own split of `rng` (which
/// advances by one block), on all threads. `use` gets them one after the other, in order, so what
/// it adds up is the same at any number of threads; at most a few dozen are held at a time.
void for_each_network(const NetworkFactory& make, const Inputs& a, const Inputs& b, Generator& rng,
                      const MonteCarloOptions& options,
                      const std::function<void(const EmpiricalKernel&)>& use);
/// The same as a list.
std::vector<EmpiricalKernel> sample_kernels(const NetworkFactory& make, const Inputs& a,
                                            const Inputs& b, Generator& rng,
                                            const MonteCarloOptions& options = {});

/// Mean and variance of numbers or tensors of numbers, one at a time (Welford 1962).
class RunningMoments {
 public:
  void add(const Tensor& x);
  std::int64_t count() const { return count_; }
  Tensor mean() const { return mean_; }
  /// sqrt(Σ(x_i − mean)²/(n − 1)/n). Throws Error unless there are two.
  Tensor standard_error() const;

 private:
  std::int64_t count_ = 0;
  Tensor mean_, squares_;
};

/// Means over networks, f64, and the standard errors of those means.
struct MonteCarloKernel {
  Tensor nngp, ntk;        ///< As EmpiricalKernel.
  Tensor nngp_se, ntk_se;  ///< As RunningMoments.
};
MonteCarloKernel monte_carlo_kernel(const std::vector<EmpiricalKernel>& draws);
MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                                    Generator& rng, const MonteCarloOptions& options = {});

}  // namespace ladon::infinite
