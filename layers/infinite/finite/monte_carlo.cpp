#include "ladon/layers/infinite/finite/monte_carlo.h"

#include <algorithm>
#include <string_view>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

// Throws Error for a BatchNorm that has seen no batch. In evaluation mode it normalizes by its
// initial statistics, mean 0 and variance 1: it would be the identity. In training mode it mixes
// the examples of a batch, so that a pair of examples has no kernel.
void check_batch_norms(const Layer& network) {
  constexpr std::string_view counter = "num_batches_tracked";
  for (const auto& [name, value] : network.state_dict())
    LADON_CHECK(!name.ends_with(counter) || number_of("for_each_network", value) > 0,
                "for_each_network", "the BatchNorm `",
                name.substr(0, name.size() - std::min(name.size(), counter.size() + 1)),
                "` has seen no batch, so that in evaluation mode it would be the identity; let the "
                "factory run data through the network in training mode, or take LayerNorm, RmsNorm "
                "or GroupNorm");
}

}  // namespace

void for_each_network(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                      const MonteCarloOptions& options, Generator& rng,
                      const std::function<void(const EmpiricalKernel&)>& use) {
  LADON_CHECK(make && use, "for_each_network", make ? "`use`" : "`make`",
              " is an empty function; pass one that ",
              make ? "takes each kernel" : "makes a network");
  LADON_CHECK(options.draws >= 1, "for_each_network", "needs at least one draw, got ",
              options.draws);
  constexpr std::int64_t held = 32;
  const Generator source = rng.split(rng.reserve(1));
  const auto kernel_of = [&](std::int64_t i) {
    Generator own = source.split(static_cast<std::uint64_t>(i));
    const std::unique_ptr<Layer> network = make(own);
    LADON_CHECK(network != nullptr, "for_each_network", "the factory returned no network");
    network->to(options.dtype);
    network->eval();
    check_batch_norms(*network);
    EmpiricalOptions kernel = options.kernel;
    kernel.verify = kernel.verify && i == 0;
    return empirical_kernel(*network, a, b, kernel);
  };
  parallel::in_order(options.draws, held, kernel_of, use);
}

std::vector<EmpiricalKernel> sample_kernels(const NetworkFactory& make, const Inputs& a,
                                            const Inputs& b, const MonteCarloOptions& options,
                                            Generator& rng) {
  std::vector<EmpiricalKernel> kernels;
  for_each_network(make, a, b, options, rng,
                   [&](const EmpiricalKernel& k) { kernels.push_back(k); });
  return kernels;
}

namespace {

/// Running moments of the networks' kernels.
struct KernelMoments {
  RunningMoments nngp, ntk;
  void add(const EmpiricalKernel& k) {
    nngp.add(k.nngp);
    if (k.ntk.defined()) ntk.add(k.ntk);
  }
  MonteCarloKernel result() const {
    const bool has_ntk = ntk.count() > 0;
    return {.nngp = nngp.mean(),
            .ntk = has_ntk ? ntk.mean() : Tensor(),
            .nngp_se = nngp.standard_error(),
            .ntk_se = has_ntk ? ntk.standard_error() : Tensor()};
  }
};

}  // namespace

MonteCarloKernel monte_carlo_kernel(const std::vector<EmpiricalKernel>& draws) {
  KernelMoments moments;
  for (const EmpiricalKernel& k : draws) moments.add(k);
  return moments.result();
}

MonteCarloKernel monte_carlo_kernel(const NetworkFactory& make, const Inputs& a, const Inputs& b,
                                    const MonteCarloOptions& options, Generator& rng) {
  KernelMoments moments;
  for_each_network(make, a, b, options, rng, [&](const EmpiricalKernel& k) { moments.add(k); });
  return moments.result();
}

}  // namespace ladon::infinite
