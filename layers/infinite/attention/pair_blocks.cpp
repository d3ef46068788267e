#include "ladon/layers/infinite/attention/pair_blocks.h"

#include "ladon/autograd/ops/shape.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

Tensor dense(const Tensor& x) { return x.defined() ? contiguous(x) : x; }

}  // namespace

bool same_sides(const Pairs& p) {
  const auto same = [](const Tensor& left, const Tensor& right) {
    if (!left.defined() || !right.defined()) return left.defined() == right.defined();
    return same_elements(flatten(left), flatten(right));
  };
  return same(p.left, p.right) && same(p.left_mask, p.right_mask) &&
         same(p.left_root.common, p.right_root.common) && same(p.left_root.own, p.right_root.own) &&
         same(p.left_root.names, p.right_root.names);
}

bool upper_triangle(const Pairs& p) {
  return PassScope::options().upper_triangle && p.nngp.rank() == 4 && same_sides(p);
}

BlockList::Blocks::Blocks(const Tensor& x, const PairIndex& index)
    : blocks(dense(x)), size(index.positions() * index.positions()) {
  if (!blocks.defined() || size == 0) return;
  data = blocks.data<double>();
  steps = index.steps(blocks, size);
  steps.row /= size;
  steps.column /= size;
}

BlockList::BlockList(const AttentionLimit& layer, const Pairs& seen, const Pairs& values)
    : dense_(dense(seen.nngp)),
      index_(dense_),
      k_(dense_, index_),
      t_(seen.ntk, index_),
      v_(values.nngp, index_),
      u_(values.ntk, index_),
      left_(seen.left, index_),
      right_(seen.right, index_),
      left_may_(visible(layer, seen.left_mask, index_.positions(), index_.positions()), index_),
      right_may_(visible(layer, seen.right_mask, index_.positions(), index_.positions()), index_) {}

std::vector<std::int64_t> BlockList::list(bool upper) const {
  std::vector<std::int64_t> pairs;
  for (std::int64_t pair = 0; pair < count(); ++pair)
    if (!upper || left_input(pair) <= right_input(pair)) pairs.push_back(pair);
  return pairs;
}

void BlockList::mirror(std::int64_t pair, double* blocks) const {
  const std::int64_t t = positions(), n = left_input(pair), m = right_input(pair);
  if (n == m) return;
  kernels::loops().f64.transpose(t, t, blocks + pair * t * t, t,
                                 blocks + (m * index_.columns() + n) * t * t, t);
}

PairBlocks BlockList::operator[](std::int64_t pair) const {
  const std::int64_t i = pair / index_.columns(), j = pair % index_.columns();
  return {positions(),    k_.at(i, j),     t_.at(i, j),        v_.at(i, j),        u_.at(i, j),
          left_.at(i, j), right_.at(i, j), left_may_.at(i, j), right_may_.at(i, j)};
}

}  // namespace ladon::infinite
