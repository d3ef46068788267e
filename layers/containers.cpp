#include "ladon/layers/containers.h"

#include <cmath>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/kernel/branches.h"
#include "ladon/layers/masked.h"

namespace ladon {
namespace {

using infinite::KernelNode;

std::vector<infinite::Branch> branches_of(const LayerContainer& c) {
  std::vector<infinite::Branch> branches;
  for (const auto& layer : c.layers)
    branches.push_back({layer->describe(), [&layer](const KernelNode& k) { return (*layer)(k); }});
  return branches;
}

std::string list_of(const char* what, const LayerContainer& c) {
  return detail::join(what, "(", c.layers.size(), c.layers.size() == 1 ? " layer)" : " layers)");
}

void check_branches(const LayerContainer& c) {
  LADON_CHECK(!c.layers.empty(), c.describe(),
              "has no branches, but needs at least one: none was added, or it was moved from");
}

}  // namespace

KernelNode Identity::limit(const KernelNode& k) const { return k; }

// --- Sequential ---

bool LayerContainer::per_position() const {
  return std::all_of(layers.begin(), layers.end(),
                     [](const Owned<Layer>& layer) { return layer->per_position(); });
}

namespace {

// Without this check a moved-from network would silently return its input.
void check_layers(const Sequential& c) {
  LADON_CHECK(!c.layers.empty(), c.describe(),
              "has no layers: none was added, or it was moved from; Identity() returns its input");
}

}  // namespace

Tensor Sequential::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_layers(*this);
  Tensor y = x;
  bool pooled = false;  // after pooling, the mask may not fit the positions of y
  for (const auto& layer : layers) {
    const bool vectors = y.rank() <= 2 && is_floating(y.dtype());  // without positions
    const bool other =
        pooled && mask.defined() && !vectors && detail::mask_shape(y) != mask.shape();
    y = (*layer)(y, vectors || other ? Tensor() : mask);
    pooled = pooled || vectors;
  }
  return y;
}

KernelNode Sequential::limit(const KernelNode& k) const {
  check_layers(*this);
  KernelNode y = k;
  for (const auto& layer : layers) y = (*layer)(y);
  return y;
}

std::string Sequential::describe() const { return list_of("Sequential", *this); }

// --- Sum ---

Tensor SumBranches::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_branches(*this);
  Tensor y = (*layers[0])(x, mask);
  for (std::size_t i = 1; i < layers.size(); ++i) y = y + (*layers[i])(x, mask);
  return y;
}

KernelNode SumBranches::limit(const KernelNode& k) const {
  check_branches(*this);
  return infinite::sum(describe(), k, branches_of(*this));
}

std::string SumBranches::describe() const { return list_of("SumBranches", *this); }

// --- Product ---

Tensor MultiplyBranches::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_branches(*this);
  const auto product = [&](const Tensor& seen) {
    Tensor y = (*layers[0])(seen, mask);
    for (std::size_t i = 1; i < layers.size(); ++i) y = y * (*layers[i])(seen, mask);
    return y;
  };
  return detail::settled(product, x, mask);
}

KernelNode MultiplyBranches::limit(const KernelNode& k) const {
  check_branches(*this);
  return infinite::product(describe(), k, branches_of(*this));
}

std::string MultiplyBranches::describe() const { return list_of("MultiplyBranches", *this); }

// --- ConcatenateBranches ---

namespace {

/// Throws Error unless y has the declared width of branch i.
void check_width(const ConcatenateBranches& c, std::size_t i, const Tensor& y) {
  LADON_CHECK(y.rank() > 0 && y.size(-1) == c.widths[i], "ConcatenateBranches", "branch ", i, ", ",
              c.layers[i]->describe(), ", should give ", c.widths[i], " channels, got shape ",
              y.shape(), "; widths must hold the width of each branch's output");
}

void check_widths(const ConcatenateBranches& c) {
  check_branches(c);
  LADON_CHECK(c.widths.size() == c.layers.size(), "ConcatenateBranches", "has ", c.layers.size(),
              " branches, but ", c.widths.size(), " widths; it needs one width per branch");
}

}  // namespace

Tensor ConcatenateBranches::forward_masked(const Tensor& x, const Tensor& mask) const {
  check_widths(*this);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    parts.push_back((*layers[i])(x, mask));
    check_width(*this, i, parts.back());
  }
  return concat(parts, -1);
}

KernelNode ConcatenateBranches::limit(const KernelNode& k) const {
  check_widths(*this);
  std::vector<double> share;
  double total = 0;
  for (const std::int64_t width : widths) total += static_cast<double>(width);
  for (const std::int64_t width : widths) share.push_back(static_cast<double>(width) / total);
  return infinite::concatenation(k, branches_of(*this), share);
}

std::string ConcatenateBranches::describe() const { return list_of("ConcatenateBranches", *this); }

// --- Residual ---

Residual::Residual(double a, Owned<Layer> layer) : alpha(a), branch(std::move(layer)) {
  LADON_CHECK(alpha >= 0 && alpha <= 1, "Residual", "alpha must lie in [0, 1], got ", alpha);
  LADON_CHECK(static_cast<bool>(branch), "Residual", "the branch must be a layer, but is null");
}

Tensor Residual::forward_masked(const Tensor& x, const Tensor& mask) const {
  return std::sqrt(alpha) * x + std::sqrt(1 - alpha) * (*branch)(x, mask);
}

KernelNode Residual::limit(const KernelNode& k) const {
  const auto inside = [this](const KernelNode& x) { return (*branch)(x); };
  return infinite::residual("Residual", k, alpha, {branch->describe(), inside});
}

std::string Residual::describe() const {
  return detail::join("Residual(", alpha, ", ", branch->describe(), ")");
}

}  // namespace ladon
