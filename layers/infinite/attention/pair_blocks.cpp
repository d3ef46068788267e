#include "ladon/layers/infinite/attention/pair_blocks.h"

#include "ladon/autograd/ops/shape.h"

namespace ladon::infinite {
namespace {

Tensor dense(const Tensor& x) { return x.defined() ? contiguous(x) : x; }

}  // namespace

BlockList::BlockList(const AttentionLimit& layer, const Pairs& seen, const Pairs& values)
    : k_(dense(seen.nngp)),
      t_(dense(seen.ntk)),
      v_(dense(values.nngp)),
      u_(dense(values.ntk)),
      left_(dense(seen.left)),
      right_(dense(seen.right)),
      left_may_(contiguous(visible(layer, seen.left_mask, k_.size(-1), k_.size(-1)))),
      right_may_(contiguous(visible(layer, seen.right_mask, k_.size(-1), k_.size(-1)))),
      index_(k_) {}

PairBlocks BlockList::operator[](std::int64_t pair) const {
  const std::int64_t size = positions() * positions();
  const auto at = [&](const Tensor& x) {
    return x.defined() ? x.data<double>() + index_.offset(x, size, pair) : nullptr;
  };
  return {positions(), at(k_),     at(t_),        at(v_),        at(u_),
          at(left_),   at(right_), at(left_may_), at(right_may_)};
}

}  // namespace ladon::infinite
