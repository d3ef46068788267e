#pragma once
// Kernels of a pair of inputs as plain arrays, for attention's limits.

#include <cstdint>
#include <vector>

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

/// Whether both sides of the pairs are the same list of inputs.
bool same_sides(const Pairs& p);
/// Whether these are all pairs between a block of inputs and itself, and the current pass over the
/// graph (pass_scope.h) uses only the pairs on and above the diagonal.
bool upper_triangle(const Pairs& p);

/// The blocks of all pairs of inputs, by the index of the pair.
class BlockList {
 public:
  BlockList(const AttentionLimit& layer, const Pairs& seen, const Pairs& values);
  std::int64_t count() const { return index_.count(); }
  std::int64_t positions() const { return index_.positions(); }
  PairBlocks operator[](std::int64_t pair) const;
  /// Index of a pair's left or right input among the inputs of that side.
  std::int64_t left_input(std::int64_t pair) const { return left_.input(pair, index_); }
  std::int64_t right_input(std::int64_t pair) const { return right_.input(pair, index_); }
  /// Indices of the pairs, or (`upper`, for pairs between a block and itself) of those with
  /// left_input <= right_input.
  std::vector<std::int64_t> list(bool upper) const;
  /// Writes the transposed block [T, T] of a pair (n, m) to the block of (m, n).
  void mirror(std::int64_t pair, double* blocks) const;
  /// The keys that each query may attend to (visible() in limit.h), for the inputs of each side.
  const Tensor& left_may() const { return left_may_.blocks; }
  const Tensor& right_may() const { return right_may_.blocks; }

 private:
  /// Blocks of all pairs, or of the inputs of a side.
  struct Blocks {
    Blocks(const Tensor& x, const PairIndex& index);
    const double* at(std::int64_t i, std::int64_t j) const {
      return data ? data + size * steps.at(i, j) : nullptr;
    }
    std::int64_t input(std::int64_t pair, const PairIndex& index) const {
      return steps.at(pair / index.columns(), pair % index.columns());
    }

    Tensor blocks;
    const double* data = nullptr;  // null if undefined
    std::int64_t size;
    PairIndex::Steps steps = {};  // counted in blocks of `size` elements
  };

  Tensor dense_;  // kernels of queries and keys; index_ numbers their pairs
  PairIndex index_;
  Blocks k_, t_, v_, u_, left_, right_, left_may_, right_may_;
};

}  // namespace ladon::infinite
