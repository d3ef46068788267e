#include "ladon/layers/infinite/kernel/branches.h"

#include <cmath>

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

/// Σ_i weights[i]·k_i, of both kernels; the means of channels are Σ_i of_means[i]·mean_i.
Kernel weighted_sum(const std::vector<Kernel>& kernels, const std::vector<double>& weights,
                    const std::vector<double>& of_means, const Law& makes) {
  const auto total = [](const std::vector<double>& by, const auto& part) {
    Tensor y;
    for (std::size_t i = 0; i < by.size(); ++i) {
      const Tensor x = part(i);
      if (!x.defined()) continue;
      const Tensor term = by[i] == 1 ? x : by[i] * x;
      y = y.defined() ? y + term : term;
    }
    return y;
  };
  Kernel result = combine(kernels, makes, [&](const std::vector<PairKernels>& all) {
    return PairKernels{total(weights, [&](std::size_t i) { return all[i].nngp; }),
                       total(weights, [&](std::size_t i) { return all[i].ntk; })};
  });
  if (makes.knows_means())
    for (Tensor Kernel::*mean : {&Kernel::mean1, &Kernel::mean2})
      result.*mean = total(of_means, [&](std::size_t i) { return kernels[i].*mean; });
  return result;
}

}  // namespace

Branch identity_branch() {
  return {"Identity",
          [](const Kernel& k) { return k.wanted == Entries::diagonal ? k.diagonal() : k; }};
}

Kernel sum(const std::string& layer, const Kernel& k, const std::vector<Branch>& branches) {
  const std::vector<Kernel> kernels = independent_outputs(layer, k, branches);
  const std::vector<double> ones(kernels.size(), 1.0);
  return weighted_sum(kernels, ones, ones, Law::of_sum(laws_of(kernels)));
}

Kernel product(const std::string& layer, const Kernel& k, const std::vector<Branch>& branches) {
  const std::vector<Kernel> kernels = independent_outputs(layer, k, branches);
  Law makes = Law::of_product(laws_of(kernels));
  for (const Kernel& factor : kernels)
    if (factor.mean1.defined()) makes.zero_given = Law::nothing;  // the product's is not tracked
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
  return weighted_sum(kernels, share, share, Law::of_concatenation(laws_of(kernels)));
}

Kernel residual(const std::string& layer, const Kernel& k, double alpha, const Branch& branch) {
  const Kernel inside = branch.limit(into_branch(k));
  inside.law.need_independent(layer, branch.name);
  const std::vector<Kernel> kernels = {k.wanted == Entries::diagonal ? k.diagonal() : k,
                                       out_of_branch(inside, k)};
  return weighted_sum(kernels, {alpha, 1 - alpha}, {std::sqrt(alpha), std::sqrt(1 - alpha)},
                      Law::of_sum(laws_of(kernels)));
}

}  // namespace ladon::infinite
