#include "ladon/layers/containers.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon {
namespace {

using infinite::Kernel;
using infinite::PairKernels;

/// What a branch starts from: whether it is independent counts from there.
Kernel branch_inputs(const Kernel& k) {
  Kernel inputs = k;
  inputs.centered = k.has_mean_zero();
  inputs.independent = false;
  return inputs;
}

struct Branches {
  std::vector<Kernel> kernels;
  bool independent = true;  // whether what they make together is, too (Kernel::independent)
};

/// The branches' kernels. All but one must end in a random linear map inside the branch: only then
/// are products of different branches zero on average. The one that does not (the identity of a
/// residual block) may still pass on what is independent already.
Branches independent_branches(const Container& all, const Kernel& k) {
  const Kernel inputs = branch_inputs(k);
  Branches branches;
  const Layer* other = nullptr;
  for (const auto& branch : all.layers) {
    branches.kernels.push_back(branch->limit(inputs));
    if (branches.kernels.back().independent) continue;
    LADON_CHECK(
        other == nullptr, all.describe(), "two branches, ", other ? other->describe() : "", " and ",
        branch->describe(),
        ", end in no random linear map; their outputs are correlated, so that kernels do not add "
        "or multiply; end all but one branch in a Linear");
    other = branch.get();
  }
  if (other) branches.independent = k.independent && other->limit(k).independent;
  return branches;
}

/// Σ_i weights[i]·k_i, of both kernels.
Kernel weighted_sum(const std::vector<Kernel>& kernels, const std::vector<double>& weights) {
  return infinite::combine(kernels, [&](const std::vector<PairKernels>& all) {
    const auto sum = [&](Tensor PairKernels::*which) {
      const auto term = [&](std::size_t i) {
        return weights[i] == 1 ? all[i].*which : weights[i] * (all[i].*which);
      };
      if (!(all[0].*which).defined()) return Tensor();
      Tensor total = term(0);
      for (std::size_t i = 1; i < all.size(); ++i) total = total + term(i);
      return total;
    };
    return PairKernels{sum(&PairKernels::nngp), sum(&PairKernels::ntk)};
  });
}

std::string list_of(const char* what, const Container& c) {
  return detail::join(what, "(", c.layers.size(), c.layers.size() == 1 ? " layer)" : " layers)");
}

void check_branches(const Container& c) {
  LADON_CHECK(!c.layers.empty(), c.describe(), "has no branches");
}

}  // namespace

infinite::Kernel Identity::limit(const Kernel& k) const { return k; }

// --- Sequential ---

Tensor Sequential::forward_masked(const Tensor& x, const Tensor& mask) const {
  Tensor y = x;
  for (const auto& layer : layers) y = (*layer)(y, mask);
  return y;
}

infinite::Kernel Sequential::limit(const Kernel& k) const {
  Kernel result = k;
  for (const auto& layer : layers) result = layer->limit(result);
  return result;
}

std::string Sequential::describe() const { return list_of("Sequential", *this); }

// --- Sum ---

Tensor Sum::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_branches(*this);
  Tensor y = (*layers[0])(x, mask);
  for (std::size_t i = 1; i < layers.size(); ++i) y = y + (*layers[i])(x, mask);
  return y;
}

infinite::Kernel Sum::limit(const Kernel& k) const {
  check_branches(*this);
  const Branches branches = independent_branches(*this, k);
  Kernel result = weighted_sum(branches.kernels, std::vector<double>(branches.kernels.size(), 1.0));
  result.independent = branches.independent;
  return result;
}

std::string Sum::describe() const { return list_of("Sum", *this); }

// --- Product ---

Tensor Product::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_branches(*this);
  Tensor y = (*layers[0])(x, mask);
  for (std::size_t i = 1; i < layers.size(); ++i) y = y * (*layers[i])(x, mask);
  return y;
}

infinite::Kernel Product::limit(const Kernel& k) const {
  check_branches(*this);
  const Branches branches = independent_branches(*this, k);
  Kernel result = infinite::combine(branches.kernels, [](const std::vector<PairKernels>& all) {
    PairKernels product = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      // (f·g)' = f'·g + f·g', and the two terms are uncorrelated.
      if (product.ntk.defined())
        product.ntk = product.ntk * all[i].nngp + product.nngp * all[i].ntk;
      product.nngp = product.nngp * all[i].nngp;
    }
    return product;
  });
  result.independent = branches.independent;
  result.gaussian = result.gaussian && layers.size() == 1;
  return result;
}

std::string Product::describe() const { return list_of("Product", *this); }

// --- Concatenate ---

namespace {

/// Throws Error unless y has the width that branch i is said to have.
void check_width(const Concatenate& c, std::size_t i, const Tensor& y) {
  LADON_CHECK(y.rank() > 0 && y.size(-1) == c.widths[i], "Concatenate", "branch ", i, ", ",
              c.layers[i]->describe(), ", should give ", c.widths[i], " channels, got shape ",
              y.shape());
}

void check_widths(const Concatenate& c) {
  check_branches(c);
  LADON_CHECK(c.widths.size() == c.layers.size(), "Concatenate", "has ", c.layers.size(),
              " branches, but ", c.widths.size(), " widths");
}

}  // namespace

Tensor Concatenate::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_widths(*this);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    parts.push_back((*layers[i])(x, mask));
    check_width(*this, i, parts.back());
  }
  return concat(parts, -1);
}

infinite::Kernel Concatenate::limit(const Kernel& k) const {
  check_widths(*this);
  std::vector<Kernel> kernels;
  for (const auto& branch : layers) kernels.push_back(branch->limit(k));
  std::vector<double> share;
  double total = 0;
  for (const std::int64_t width : widths) total += static_cast<double>(width);
  for (const std::int64_t width : widths) share.push_back(static_cast<double>(width) / total);
  Kernel result = weighted_sum(kernels, share);
  result.independent = true;
  for (const Kernel& branch : kernels) result.independent &= branch.independent;
  result.gaussian = result.gaussian && layers.size() == 1;
  return result;
}

std::string Concatenate::describe() const { return list_of("Concatenate", *this); }

// --- Residual ---

Residual::Residual(double a, Owned<Layer> layer) : alpha(a), branch(std::move(layer)) {
  LADON_CHECK(alpha >= 0 && alpha <= 1, "Residual", "alpha must lie in [0, 1], got ", alpha);
  LADON_CHECK(static_cast<bool>(branch), "Residual", "the branch is null");
}

Tensor Residual::forward_masked(const Tensor& x, const Tensor& mask) const {
  return std::sqrt(alpha) * x + std::sqrt(1 - alpha) * (*branch)(x, mask);
}

infinite::Kernel Residual::limit(const Kernel& k) const {
  const Kernel inside = branch->limit(branch_inputs(k));
  LADON_CHECK(inside.independent, "Residual", "the branch ", branch->describe(),
              " ends in no random linear map; its output is correlated with its input");
  Kernel result = weighted_sum({k, inside}, {alpha, 1 - alpha});
  result.independent = k.independent;
  return result;
}

std::string Residual::describe() const {
  return detail::join("Residual(", alpha, ", ", branch->describe(), ")");
}

}  // namespace ladon
