#include "ladon/layers/infinite/kernel/kernel.h"

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::infinite {
namespace {

Tensor variance(const Tensor& self, bool has_positions, int axis) {
  return has_positions ? unsqueeze(diagonal(self), axis) : self;
}

/// [N, ..] → [N, 1, ..] or [1, N, ..]: one side of the pairs between two blocks.
Tensor side(const Tensor& x, int axis) { return x.defined() ? unsqueeze(x, axis) : x; }

Pairs cross_pairs(const Kernel& k) {
  return {.nngp = k.nngp,
          .ntk = k.ntk,
          .left = side(k.cov1, 1),
          .right = side(k.cov2, 0),
          .left_mask = side(k.mask1, 1),
          .right_mask = side(k.mask2, 0),
          .same = k.same,
          .has_positions = k.has_positions(),
          .replicate = k.draws.replicate};
}

Pairs self_pairs(const Kernel& k, const Tensor& cov, const Tensor& mask) {
  return {.nngp = cov,
          .ntk = {},
          .left = cov,
          .right = cov,
          .left_mask = mask,
          .right_mask = mask,
          .same = ones({cov.size(0)}, boolean),
          .has_positions = k.has_positions(),
          .replicate = k.draws.replicate};
}

}  // namespace

Tensor Pairs::left_variance() const { return variance(left, has_positions, -1); }
Tensor Pairs::right_variance() const { return variance(right, has_positions, -2); }

Tensor Pairs::visible(const Tensor& block) const {
  if (!left_mask.defined()) return block;
  return block * cast(unsqueeze(left_mask, -1), f64) * cast(unsqueeze(right_mask, -2), f64);
}

PairKernels Pairs::each(const std::function<Tensor(const Tensor&)>& map) const {
  return {map(nngp), ntk.defined() ? map(ntk) : Tensor()};
}

void Kernel::need_positions(std::string_view layer) const {
  LADON_CHECK(has_positions(), layer,
              "the inputs of its limit are vectors and have no positions; it expects "
              "[N, T, d] or [N, H, W, d]");
}

Kernel map_pairs(const Kernel& k, const Law& makes,
                 const std::function<PairKernels(const Pairs&)>& layer) {
  return map_pairs(k, makes, k.positions, layer);
}

Kernel map_pairs(const Kernel& k, const Law& makes, const Shape& positions,
                 const std::function<PairKernels(const Pairs&)>& layer) {
  Kernel result = k;
  result.law = makes;
  const PairKernels cross = layer(cross_pairs(k));
  result.nngp = cross.nngp;
  result.ntk = cross.ntk;
  result.cov1 = layer(self_pairs(k, k.cov1, k.mask1)).nngp;
  result.cov2 = layer(self_pairs(k, k.cov2, k.mask2)).nngp;
  result.positions = positions;
  if (!result.has_positions()) result.mask1 = result.mask2 = Tensor();
  return result;
}

std::vector<Law> laws_of(const std::vector<Kernel>& branches) {
  std::vector<Law> laws;
  for (const Kernel& k : branches) laws.push_back(k.law);
  return laws;
}

Kernel combine(const std::vector<Kernel>& branches, const Law& makes,
               const std::function<PairKernels(const std::vector<PairKernels>&)>& rule) {
  LADON_CHECK(!branches.empty(), "combine", "there are no branches");
  Kernel result = branches.front();
  result.law = makes;
  std::vector<PairKernels> cross, self1, self2;
  for (const Kernel& k : branches) {
    LADON_CHECK(k.nngp.shape() == result.nngp.shape() && k.positions == result.positions, "combine",
                "branches end in kernels of shapes ", result.nngp.shape(), " and ", k.nngp.shape());
    cross.push_back({k.nngp, k.ntk});
    self1.push_back({k.cov1, {}});
    self2.push_back({k.cov2, {}});
    result.draws.used = result.draws.used || k.draws.used;
  }
  const PairKernels both = rule(cross);
  result.nngp = both.nngp;
  result.ntk = both.ntk;
  result.cov1 = rule(self1).nngp;
  result.cov2 = rule(self2).nngp;
  return result;
}

}  // namespace ladon::infinite
