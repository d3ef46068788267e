#pragma once
// Kernels of a pair of inputs as plain arrays, for attention's limits.

#include <cstdint>

#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {

/// One pair of inputs (n, m): T × T blocks, row-major. See attention/limit.h for the names.
struct PairBlocks {
  std::int64_t positions;
  const double *k, *t;                 ///< Kernels of queries and keys; t null without NTK.
  const double *v, *u;                 ///< Kernels of values; u null without NTK.
  const double *left, *right;          ///< k(n, n) and k(m, m)
  const double *left_may, *right_may;  ///< 1 where query a may attend to key i, else 0
};

/// The PairBlocks of all pairs, by index.
class BlockList {
 public:
  BlockList(const AttentionLimit& layer, const Pairs& seen, const Pairs& values);
  std::int64_t count() const { return index_.count(); }
  std::int64_t positions() const { return index_.positions(); }
  PairBlocks operator[](std::int64_t pair) const;
  /// Indices of x and x' among the inputs of their sides, and the visible keys of all inputs.
  std::int64_t left_input(std::int64_t pair) const { return input(left_, pair); }
  std::int64_t right_input(std::int64_t pair) const { return input(right_, pair); }
  const Tensor& left_may() const { return left_may_; }
  const Tensor& right_may() const { return right_may_; }

 private:
  std::int64_t input(const Tensor& side, std::int64_t pair) const {
    const std::int64_t size = positions() * positions();
    return index_.offset(side, size, pair) / size;
  }

  Tensor k_, t_, v_, u_, left_, right_, left_may_, right_may_;
  PairIndex index_;
};

}  // namespace ladon::infinite
