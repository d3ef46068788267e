#include "ladon/layers/infinite/kernel/branches.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

KernelNode into_branch(const KernelNode& k) {
  KernelNode inputs = k;
  inputs.law = k.law.into_branch(k.depth);
  ++inputs.depth;
  return inputs;
}

KernelNode out_of_branch(KernelNode k, const KernelNode& inputs) {
  k.depth = inputs.depth;
  k.law = k.law.out_of_branch(k.depth);
  return k;
}

std::vector<Law> laws_of(const std::vector<KernelNode>& branches) {
  std::vector<Law> laws;
  for (const KernelNode& k : branches) laws.push_back(k.law);
  return laws;
}

/// Kernels of the branches' outputs. Throws Error unless all but one branch end in random linear
/// maps, so that the outputs are uncorrelated given their common input. The exception, such as the
/// identity of a residual block, may pass on channels of an earlier random linear map.
std::vector<KernelNode> independent_outputs(const std::string& layer, const KernelNode& k,
                                            const std::vector<Branch>& branches) {
  const KernelNode inputs = into_branch(k);
  std::vector<KernelNode> outputs;
  const Branch* other = nullptr;
  for (const Branch& branch : branches) {
    const KernelNode output = branch.limit(inputs);
    outputs.push_back(out_of_branch(output, k));
    if (output.law.independent()) continue;
    LADON_CHECK(
        other == nullptr, layer, "two branches, ", other ? other->name : "", " and ", branch.name,
        ", do not end in a random linear map; their outputs are correlated, so that their kernels "
        "cannot be added or multiplied; end all but one branch in a Linear");
    other = &branch;
  }
  return outputs;
}

/// Σ_i by[i]·part(i), over the parts that are defined.
template <class Part>
Tensor total(const std::vector<double>& by, const Part& part) {
  Tensor y;
  for (std::size_t i = 0; i < by.size(); ++i) {
    const Tensor x = part(i);
    if (!x.defined()) continue;
    const Tensor term = by[i] == 1 ? x : by[i] * x;
    y = y.defined() ? y + term : term;
  }
  return y;
}

/// Symbol of an input's kernel in a Formula: "$k" for the first input, "$k2" for the second; "$t"
/// and "$t2" for the NTK.
std::string symbol_of(char kernel, std::size_t input) {
  return detail::join("$", kernel, input == 0 ? "" : std::to_string(input + 1));
}

/// Formula of a weighted sum, such as "0.5·$k + 0.5·$k2".
std::string sum_of(const std::vector<double>& by, char kernel) {
  std::string text;
  for (std::size_t i = 0; i < by.size(); ++i)
    text += (i == 0 ? "" : " + ") + times(by[i], symbol_of(kernel, i));
  return text;
}

/// Kernels Σ_i weights[i]·k_i of the given kernels k_i, for NNGP kernel and NTK; the means over
/// channels are Σ_i of_means[i]·mean_i.
KernelNode weighted_sum(const std::vector<KernelNode>& kernels, const std::vector<double>& weights,
                        const std::vector<double>& of_means, const Law& makes) {
  Step step{.makes = makes, .needs = Needs::wanted, .means = MeanMap(), .kept = false};
  step.formula = [weights] { return Formula{sum_of(weights, 'k'), sum_of(weights, 't')}; };
  for (const KernelNode& k : kernels)
    if (k.has_means && makes.knows_means())
      step.means = [of_means](const std::vector<Tensor>& means) {
        return total(of_means, [&](std::size_t i) { return means[i]; });
      };
  return combine(kernels, step, [weights](const std::vector<PairKernels>& all) {
    return PairKernels{total(weights, [&](std::size_t i) { return all[i].nngp; }),
                       total(weights, [&](std::size_t i) { return all[i].ntk; })};
  });
}

/// The NNGP kernel is the product of the factors' k_i; the NTK is Σ_i t_i·Π_{j≠i} k_j.
Formula product_formula(std::size_t count) {
  Formula y;
  for (std::size_t i = 0; i < count; ++i) {
    y.nngp += (i == 0 ? "" : "·") + symbol_of('k', i);
    y.ntk += (i == 0 ? "" : " + ") + symbol_of('t', i);
    for (std::size_t j = 0; j < count; ++j)
      if (j != i) y.ntk += "·" + symbol_of('k', j);
  }
  return y;
}

}  // namespace

Branch identity_branch() {
  return {"Identity", [](const KernelNode& k) { return k; }};
}

KernelNode sum(const std::string& layer, const KernelNode& k, const std::vector<Branch>& branches) {
  const std::vector<KernelNode> kernels = independent_outputs(layer, k, branches);
  const std::vector<double> ones(kernels.size(), 1.0);
  return weighted_sum(kernels, ones, ones, Law::of_sum(laws_of(kernels)));
}

KernelNode product(const std::string& layer, const KernelNode& k,
                   const std::vector<Branch>& branches) {
  const std::vector<KernelNode> kernels = independent_outputs(layer, k, branches);
  Law makes = Law::of_product(laws_of(kernels));
  for (const KernelNode& factor : kernels)
    if (factor.has_means) makes.zero_given = Law::nothing;  // the product's mean is not tracked
  const std::size_t count = kernels.size();
  const Step step{.makes = makes,
                  .formula = [count] { return product_formula(count); },
                  .needs = Needs::wanted,
                  .means = MeanMap(),
                  .kept = false};
  return combine(kernels, step, [](const std::vector<PairKernels>& all) {
    PairKernels y = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      // (f·g)' = f'·g + f·g', and the two terms are uncorrelated.
      if (y.ntk.defined()) y.ntk = y.ntk * all[i].nngp + y.nngp * all[i].ntk;
      y.nngp = y.nngp * all[i].nngp;
    }
    return y;
  });
}

KernelNode concatenation(const KernelNode& k, const std::vector<Branch>& branches,
                         const std::vector<double>& share) {
  std::vector<KernelNode> kernels;
  for (const Branch& branch : branches) kernels.push_back(branch.limit(k));
  return weighted_sum(kernels, share, share, Law::of_concatenation(laws_of(kernels)));
}

KernelNode residual(const std::string& layer, const KernelNode& k, double alpha,
                    const Branch& branch) {
  const KernelNode inside = branch.limit(into_branch(k));
  inside.law.need_independent(layer, branch.name);
  const std::vector<KernelNode> kernels = {k, out_of_branch(inside, k)};
  return weighted_sum(kernels, {alpha, 1 - alpha}, {std::sqrt(alpha), std::sqrt(1 - alpha)},
                      Law::of_sum(laws_of(kernels)));
}

}  // namespace ladon::infinite
