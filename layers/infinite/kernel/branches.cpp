#include "ladon/layers/infinite/kernel/branches.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

Kernel into_branch(const Kernel& k) {
  Kernel inputs = k;
  inputs.law = k.law.into_branch(k.depth);
  ++inputs.depth;
  return inputs;
}

Kernel out_of_branch(Kernel k, const Kernel& inputs) {
  k.depth = inputs.depth;
  k.law = k.law.out_of_branch(k.depth);
  return k;
}

/// Of branches that are uncorrelated given their common input. The one that ends in no random linear
/// map (the identity of a residual block) may still pass on what is independent already.
std::vector<Kernel> independent_outputs(const std::string& layer, const Kernel& k,
                                        const std::vector<Branch>& branches) {
  const Kernel inputs = into_branch(k);
  std::vector<Kernel> outputs;
  const Branch* other = nullptr;
  for (const Branch& branch : branches) {
    const Kernel output = branch.limit(inputs);
    outputs.push_back(out_of_branch(output, k));
    if (output.law.independent()) continue;
    LADON_CHECK(
        other == nullptr, layer, "two branches, ", other ? other->name : "", " and ", branch.name,
        ", end in no random linear map; their outputs are correlated, so that kernels do not add "
        "or multiply; end all but one branch in a Linear");
    other = &branch;
  }
  return outputs;
}

/// Σ_i weights[i]·k_i, of both kernels.
Kernel weighted_sum(const std::vector<Kernel>& kernels, const std::vector<double>& weights,
                    const Law& makes) {
  return combine(kernels, makes, [&](const std::vector<PairKernels>& all) {
    const auto total = [&](Tensor PairKernels::*which) {
      const auto term = [&](std::size_t i) {
        return weights[i] == 1 ? all[i].*which : weights[i] * (all[i].*which);
      };
      if (!(all[0].*which).defined()) return Tensor();
      Tensor y = term(0);
      for (std::size_t i = 1; i < all.size(); ++i) y = y + term(i);
      return y;
    };
    return PairKernels{total(&PairKernels::nngp), total(&PairKernels::ntk)};
  });
}

}  // namespace

Branch identity_branch() {
  return {"Identity",
          [](const Kernel& k) { return k.wanted == Entries::diagonal ? k.diagonal() : k; }};
}

Kernel sum(const std::string& layer, const Kernel& k, const std::vector<Branch>& branches) {
  const std::vector<Kernel> kernels = independent_outputs(layer, k, branches);
  return weighted_sum(kernels, std::vector<double>(kernels.size(), 1.0),
                      Law::of_sum(laws_of(kernels)));
}

Kernel product(const std::string& layer, const Kernel& k, const std::vector<Branch>& branches) {
  const std::vector<Kernel> kernels = independent_outputs(layer, k, branches);
  const Law makes = Law::of_product(laws_of(kernels));
  return combine(kernels, makes, [](const std::vector<PairKernels>& all) {
    PairKernels y = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      // (f·g)' = f'·g + f·g', and the two terms are uncorrelated.
      if (y.ntk.defined()) y.ntk = y.ntk * all[i].nngp + y.nngp * all[i].ntk;
      y.nngp = y.nngp * all[i].nngp;
    }
    return y;
  });
}

Kernel concatenation(const Kernel& k, const std::vector<Branch>& branches,
                     const std::vector<double>& share) {
  std::vector<Kernel> kernels;
  for (const Branch& branch : branches) kernels.push_back(branch.limit(k));
  return weighted_sum(kernels, share, Law::of_concatenation(laws_of(kernels)));
}

Kernel residual(const std::string& layer, const Kernel& k, double alpha, const Branch& branch) {
  const Kernel inside = branch.limit(into_branch(k));
  inside.law.need_independent(layer, branch.name);
  const std::vector<Kernel> kernels = {k.wanted == Entries::diagonal ? k.diagonal() : k,
                                       out_of_branch(inside, k)};
  return weighted_sum(kernels, {alpha, 1 - alpha}, Law::of_sum(laws_of(kernels)));
}

}  // namespace ladon::infinite
