#include "ladon/layers/containers.h"

#include <cmath>

#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel.h"

namespace ladon {
namespace {

using infinite::Kernel;
using infinite::PairKernels;

/// The branches' kernels. All but one must end in a random linear map inside the branch: only then
/// are products of different branches zero on average.
std::vector<Kernel> independent_branches(const Container& all, const Kernel& k) {
  Kernel inputs = k;
  inputs.independent = false;
  std::vector<Kernel> kernels;
  const Layer* other = nullptr;
  for (const auto& branch : all.layers) {
    kernels.push_back(branch->limit(inputs));
    if (kernels.back().independent) continue;
    check(other == nullptr, all.describe(), "two branches, ", other ? other->describe() : "",
          " and ", branch->describe(),
          ", end in no random linear map; their outputs are correlated, so that kernels do not add "
          "or multiply; end all but one branch in a Linear");
    other = branch.get();
  }
  return kernels;
}

Kernel merged(const std::vector<Kernel>& kernels,
              const std::function<PairKernels(const std::vector<PairKernels>&)>& rule) {
  Kernel result = infinite::combine(kernels, rule);
  result.independent = true;
  for (const Kernel& k : kernels) result.independent = result.independent && k.independent;
  return result;
}

std::string list_of(const char* what, const Container& c) {
  return concat(what, "(", c.layers.size(), c.layers.size() == 1 ? " layer)" : " layers)");
}

void check_branches(const Container& c) {
  check(!c.layers.empty(), c.describe(), "has no branches");
}

}  // namespace

infinite::Kernel Identity::limit(const Kernel& k) const { return k; }

// --- Sequential ---

Tensor Sequential::forward_masked(const Tensor& x, const Tensor& mask) const {
  Tensor y = x;
  for (const auto& layer : layers) y = layer->forward_masked(y, mask);
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
  Tensor y = layers[0]->forward_masked(x, mask);
  for (std::size_t i = 1; i < layers.size(); ++i) y = y + layers[i]->forward_masked(x, mask);
  return y;
}

infinite::Kernel Sum::limit(const Kernel& k) const {
  check_branches(*this);
  return merged(independent_branches(*this, k), [](const std::vector<PairKernels>& all) {
    PairKernels sum = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      sum.nngp = sum.nngp + all[i].nngp;
      if (sum.ntk.defined()) sum.ntk = sum.ntk + all[i].ntk;
    }
    return sum;
  });
}

std::string Sum::describe() const { return list_of("Sum", *this); }

// --- Product ---

Tensor Product::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_branches(*this);
  Tensor y = layers[0]->forward_masked(x, mask);
  for (std::size_t i = 1; i < layers.size(); ++i) y = y * layers[i]->forward_masked(x, mask);
  return y;
}

infinite::Kernel Product::limit(const Kernel& k) const {
  check_branches(*this);
  return merged(independent_branches(*this, k), [](const std::vector<PairKernels>& all) {
    PairKernels product = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) {
      // (f·g)' = f'·g + f·g', and the two terms are uncorrelated.
      if (product.ntk.defined())
        product.ntk = product.ntk * all[i].nngp + product.nngp * all[i].ntk;
      product.nngp = product.nngp * all[i].nngp;
    }
    return product;
  });
}

std::string Product::describe() const { return list_of("Product", *this); }

// --- Residual ---

Residual::Residual(double a, std::unique_ptr<Layer> layer) : alpha(a), branch(std::move(layer)) {
  check(alpha >= 0 && alpha <= 1, "Residual", "alpha must lie in [0, 1], got ", alpha);
  check(branch != nullptr, "Residual", "the branch is null");
}

Tensor Residual::forward_masked(const Tensor& x, const Tensor& mask) const {
  return std::sqrt(alpha) * x + std::sqrt(1 - alpha) * branch->forward_masked(x, mask);
}

infinite::Kernel Residual::limit(const Kernel& k) const {
  const Kernel inside = branch->limit(k);
  check(inside.independent, "Residual", "the branch ", branch->describe(),
        " ends in no random linear map; its output is correlated with its input");
  Kernel result = infinite::combine({k, inside}, [a = alpha](const std::vector<PairKernels>& all) {
    PairKernels mixed;
    mixed.nngp = a * all[0].nngp + (1 - a) * all[1].nngp;
    if (all[0].ntk.defined()) mixed.ntk = a * all[0].ntk + (1 - a) * all[1].ntk;
    return mixed;
  });
  result.independent = k.independent;
  return result;
}

std::string Residual::describe() const {
  return concat("Residual(", alpha, ", ", branch->describe(), ")");
}

}  // namespace ladon
