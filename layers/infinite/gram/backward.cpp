// The backward pass of each tile stops at leaves, which replace the self-kernels (kernels of each
// input with itself, [N, ..] per step of the graph) that earlier passes over the landmarks and over
// single inputs have computed. After all tiles, the gradients of these leaves are propagated back
// through the earlier passes.

#include "ladon/layers/infinite/gram/backward.h"

#include <algorithm>
#include <functional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/gram/plan.h"

namespace ladon::infinite {

namespace {

void check_cotangent(const Tensor& c, std::int64_t n) {
  if (!c.defined()) return;
  LADON_CHECK(c.shape() == (Shape{n, n}), "backward_gram", "a cotangent has shape ", c.shape(),
              "; it must be ", (Shape{n, n}));
  if (n == 0) return;
  const Tensor x = c.detach();
  const double largest = number_of("backward_gram", amax(abs(x))),
               apart = number_of("backward_gram", amax(abs(x - transpose(x))));
  LADON_CHECK(apart <= 1e-8 * largest, "backward_gram",
              "a cotangent c is not symmetric, as (c + transpose(c))/2 would be: entries of up to ",
              largest, " differ from those across the diagonal by up to ", apart);
}

Tensor leaf_of(const Tensor& made) {
  return made.defined() && made.requires_grad() ? made.detach().set_requires_grad() : made;
}
Inputs with_leaf(const Inputs& in) { return {leaf_of(in.x), in.mask}; }

/// Propagates the gradients of `leaves`, which replace the tensors `made` in the graph, back to the
/// leaves that `made` depends on.
void pull_back(const std::vector<Tensor>& made, const std::vector<Tensor>& leaves) {
  Tensor total = scalar(0, f64);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (made[i].defined() && made[i].requires_grad() && leaves[i].grad().defined())
      total = total + sum(made[i] * leaves[i].grad());
  if (total.requires_grad()) backward(total);
}

std::vector<Tensor> listed(const Landmarks& landmarks) {
  std::vector<Tensor> all = landmarks.selves;
  for (const RootFactor& factor : landmarks.factors) all.push_back(factor.inverse);
  return all;
}

Landmarks with_leaves(Landmarks landmarks) {
  for (Tensor& step : landmarks.selves) step = leaf_of(step);
  for (RootFactor& factor : landmarks.factors) factor.inverse = leaf_of(factor.inverse);
  return landmarks;
}

/// A block of inputs (`source`), with leaves that replace the inputs and their self-kernels.
struct Block {
  Inputs source, inputs;
  Selves leaves;

  Passes::Rows rows() const { return {inputs, leaves, 0, inputs.count()}; }
};

/// Backward pass of one replicate, in tiles of `side` inputs. `tile` propagates the gradients of
/// one tile's kernels.
void backward_passes(const Passes& passes, const Inputs& x, std::int64_t side,
                     const std::function<void(const Kernel&, const GramTile&)>& tile) {
  const auto made_of = [&](const Inputs& in) { return passes.selves(in, in.count()); };
  std::vector<Block> blocks;
  for (std::int64_t i = 0; i < x.count(); i += side) {
    const Inputs source = x.rows(i, std::min(x.count(), i + side));
    blocks.push_back({source, with_leaf(source), {}});
    for (const Tensor& step : made_of(blocks.back().inputs))
      blocks.back().leaves.push_back(leaf_of(step));
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = i; j < blocks.size(); ++j) {
      const Passes::Rows a = blocks[i].rows(), b = blocks[j].rows();
      tile(
          i == j ? passes.pairs(a) : passes.pairs(a, b),
          {static_cast<std::int64_t>(i) * side, static_cast<std::int64_t>(j) * side, a.end, b.end});
    }
  for (const Block& block : blocks) {
    pull_back(made_of(block.inputs), block.leaves);
    pull_back({block.source.x}, {block.inputs.x});
  }
}

}  // namespace

void backward_gram(const Limit& limit, const Inputs& x, const Tensor& nngp, const Tensor& ntk,
                   const GramOptions& options) {
  const std::int64_t n = x.count(), side = options.tile > 0 ? options.tile : 16;
  LADON_CHECK(nngp.defined() || ntk.defined(), "backward_gram",
              "at least one of the cotangents, nngp and ntk, must be defined");
  for (const Tensor* c : {&nngp, &ntk}) check_cotangent(*c, n);
  LADON_CHECK(options.replicates >= 2, "backward_gram", "replicates must be at least 2, got ",
              options.replicates);
  const Get get = ntk.defined() ? Get::ntk : Get::nngp;
  const auto graph = limit.graph(kind_of(x), get);
  const bool drawn = graph->draws();
  const int replicates = drawn ? options.replicates : 1;
  const auto tile = [&](const Kernel& k, const GramTile& at) {
    LADON_CHECK(!k.has_positions(), "backward_gram",
                "the model ends with positions, but must end with vectors; append MeanPositions, "
                "FirstToken or Flatten");
    const double weight = (at.row == at.column ? 1.0 : 2.0) / replicates;
    const auto part = [&](const Tensor& cotangent, const Tensor& of) {
      const Tensor block = slice(slice(cotangent, 0, {at.row, at.row + at.rows}), 1,
                                 {at.column, at.column + at.columns});
      return sum(weight * block.detach() * of);
    };
    Tensor total = scalar(0, f64);
    if (nngp.defined()) total = total + part(nngp, k.nngp);
    if (ntk.defined()) total = total + part(ntk, k.ntk);
    if (total.requires_grad()) backward(total);
  };
  const EnableGrad on;
  const Inputs source = drawn ? limit.landmarks(x) : Inputs(), landmarks = with_leaf(source);
  for (int r = 0; r < replicates; ++r) {
    const Passes recorded(limit.with_replicate(limit.replicate() + static_cast<std::uint64_t>(r)),
                          graph, landmarks, Entries::full);
    if (!drawn) {
      backward_passes(recorded, x, side, tile);
      continue;
    }
    const Landmarks& made = *recorded.landmarks();
    const Landmarks leaves = with_leaves(made);
    backward_passes(recorded.with(leaves), x, side, tile);
    pull_back(listed(made), listed(leaves));
  }
  if (drawn) pull_back({source.x}, {landmarks.x});
}

}  // namespace ladon::infinite
